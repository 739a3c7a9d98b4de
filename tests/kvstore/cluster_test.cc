// SPDX-License-Identifier: Apache-2.0
// What launchers say about a job, and what is made of it.
#include "kvstore/cluster.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using testing_kvstore::error_of;

TEST(Cluster, TheRoleIsWhatTheLauncherSays) {
  EXPECT_EQ(cluster_role(), "worker");
  set_cluster_variable("DMLC_ROLE", "server");
  EXPECT_EQ(cluster_role(), "server");
  EXPECT_TRUE(group_options(cluster_config()).server);
  set_cluster_variable("DMLC_ROLE", "scheduler");
  EXPECT_NE(error_of([] { KVStore::create("dist_sync"); }).find("DMLC_ROLE=scheduler"),
            std::string::npos);
  set_cluster_variable("DMLC_ROLE", "worker");
}

TEST(Cluster, VariablesAreChecked) {
  EXPECT_NE(error_of([] { set_cluster_variable("DMLC_ROLE", "boss"); }).find("boss"),
            std::string::npos);
  EXPECT_NE(error_of([] { set_cluster_variable("MXNET_SEED", "1"); }).find("MXNET_SEED"),
            std::string::npos);
}

TEST(Cluster, TheNumberOfWorkersMustBeThatOfTheJob) {
  ClusterConfig settings;
  EXPECT_NO_THROW(check_num_workers(settings, 3)) << "nothing was promised";
  settings.num_worker = 4;
  EXPECT_NO_THROW(check_num_workers(settings, 4));
  EXPECT_NE(error_of([&] { check_num_workers(settings, 3); }).find("DMLC_NUM_WORKER=4"),
            std::string::npos);
}

TEST(Cluster, TheTransportP3SlicesAnyDistributedStore) {
  ClusterConfig settings;
  EXPECT_FALSE(with_transport(parse_store_type("dist_sync"), settings).sliced);
  settings.ps_van_type = "p3";
  EXPECT_TRUE(with_transport(parse_store_type("dist_sync"), settings).sliced);
  EXPECT_FALSE(with_transport(parse_store_type("device"), settings).sliced);
}

TEST(Cluster, HeartbeatsAreAsOftenAsConfigured) {
  ClusterConfig settings;
  EXPECT_EQ(group_options(settings).heartbeat_seconds, 1);
  EXPECT_EQ(group_options(settings).timeout_seconds, 8);
  settings.ps_heartbeat_interval = 2;
  settings.ps_heartbeat_timeout = 20;
  EXPECT_EQ(group_options(settings).heartbeat_seconds, 2);
  EXPECT_EQ(group_options(settings).timeout_seconds, 20);
}

TEST(Cluster, HeartbeatsComeTwiceInATimeoutAtLeast) {
  ClusterConfig settings;
  settings.ps_heartbeat_timeout = 1;  // which is what lies between two without more being said
  EXPECT_EQ(group_options(settings).heartbeat_seconds, 0.5);
  settings.ps_heartbeat_interval = 30;
  settings.ps_heartbeat_timeout = 4;
  EXPECT_EQ(group_options(settings).heartbeat_seconds, 2);
  settings.ps_heartbeat_timeout = 0;  // 8 s
  EXPECT_EQ(group_options(settings).heartbeat_seconds, 4);
}

}  // namespace
}  // namespace mxnet::kvstore
