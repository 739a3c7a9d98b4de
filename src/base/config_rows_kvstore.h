// SPDX-License-Identifier: Apache-2.0
// Rows of the key-value store, within one machine and between machines. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_KVSTORE(STARTUP, LIVE) \
  LIVE(bigarray_bound, int64_t, "MXNET_KVSTORE_BIGARRAY_BOUND", "1000000", at_least(0), active("HostSum.OnlyBigArraysAreSplitOverThreads"), \
      "Elements above which an array is summed by several threads and, between machines, split over all servers.") \
  LIVE(reduction_nthreads, int, "MXNET_KVSTORE_REDUCTION_NTHREADS", "4", between(1, 1024), active("HostSum.ThreadsOfBigArraysAreLimited"), \
      "CPU threads that sum big arrays within one machine.") \
  LIVE(serial_push, bool, "MXNET_KVSTORE_SERIAL_PUSH", "0", any(), active("HostSum.SerialSumsTakeOneThread"), \
      "Sum pushes one after the other; for measurements.") \
  LIVE(update_on_kvstore, bool, "MXNET_UPDATE_ON_KVSTORE", "1", any(), active("test_who_updates_follows_the_variable"), \
      "Let the store run the optimizer where it can.") \
  STARTUP(enable_gpu_p2p, bool, "MXNET_ENABLE_GPU_P2P", "1", any(), active("DeviceStore.PeerAccessDecidesTheWayBetweenGpus"), \
      "Copy directly between GPUs where they can, for kvstore type device.") \
  LIVE(slice_threshold, int64_t, "MXNET_KVSTORE_SLICE_THRESHOLD", "40000", at_least(1), active("DistStore.P3SendsSlicesOfTheConfiguredSize"), \
      "Elements of the slices in which p3 sends arrays.") \
  LIVE(usetree, bool, "MXNET_KVSTORE_USETREE", "0", any(), active("TreeStore.BytesTravelOnlyOverLinks"), \
      "Sum over GPUs along trees that follow their links.") \
  LIVE(logtree, bool, "MXNET_KVSTORE_LOGTREE", "0", any(), active("TreeStore.TreesAreLoggedOnDemand"), \
      "Log these trees.") \
  LIVE(tree_array_bound, int64_t, "MXNET_KVSTORE_TREE_ARRAY_BOUND", "10000000", at_least(0), active("TreeStore.BigArraysAreSplitOverTrees"), \
      "Elements above which an array is split over several trees.") \
  LIVE(tree_backtrack, bool, "MXNET_KVSTORE_TREE_BACKTRACK", "0", any(), active("LinkTree.TryingAllHalvesIsWorthNoLessThanTheHeuristic"), \
      "Search trees exhaustively instead of by the Kernighan-Lin heuristic.") \
  LIVE(tree_link_usage_penalty, double, "MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "0.7", between(0, 1), active("LinkTree.ThePenaltySpreadsTreesOverLinks"), \
      "Factor on the worth of a link that a tree already uses.") \
  LIVE(dist_row_sparse_verbose, bool, "MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE", "0", any(), active("DistStore.RowsOnTheirWayAreLoggedOnDemand"), \
      "Log row_sparse arrays on their way between machines.")

#define MX_CONFIG_CLUSTER(STARTUP, LIVE) \
  STARTUP(role, std::string, "DMLC_ROLE", "worker", one_of("worker server scheduler"), active("Cluster.TheRoleIsWhatTheLauncherSays"), \
      "What this process is, as set by the launcher: worker, server or scheduler.") \
  STARTUP(num_worker, std::optional<int>, "DMLC_NUM_WORKER", "auto", at_least(1), active("Cluster.TheNumberOfWorkersMustBeThatOfTheJob"), \
      "Number of workers; auto: as many as the launcher started.") \
  STARTUP(num_server, std::optional<int>, "DMLC_NUM_SERVER", "auto", at_least(0), inert("servers are the processes that the launcher has started as such"), \
      "Number of servers, set by the launcher for scripts that read it.") \
  STARTUP(rank, std::optional<int>, "DMLC_RANK", "auto", at_least(0), inert("ranks are those of MPI"), \
      "Preferred rank; auto: as the launcher numbers.") \
  STARTUP(ps_root_uri, std::string, "DMLC_PS_ROOT_URI", "", any(), inert("processes find each other through MPI"), \
      "Address of the scheduler.") \
  STARTUP(ps_root_port, std::optional<int>, "DMLC_PS_ROOT_PORT", "auto", between(1, 65535), inert("processes find each other through MPI"), \
      "Port of the scheduler; auto: any free one.") \
  STARTUP(ps_van_type, std::string, "DMLC_PS_VAN_TYPE", "", any(), active("Cluster.TheTransportP3SlicesAnyDistributedStore"), \
      "Transport; p3 sends slices by priority. Empty: the usual one.") \
  STARTUP(interface, std::string, "DMLC_INTERFACE", "", any(), inert("MPI has its own choice: OMPI_MCA_btl_tcp_if_include"), \
      "Network interface to use. Empty: the transport's choice.") \
  STARTUP(node_host, std::string, "DMLC_NODE_HOST", "", any(), inert("processes find each other through MPI"), \
      "This machine's address. Empty: found out.") \
  STARTUP(local, bool, "DMLC_LOCAL", "0", any(), inert("MPI chooses shared memory between processes of one machine itself"), \
      "Use local sockets between processes of one machine.") \
  STARTUP(use_kubernetes, bool, "DMLC_USE_KUBERNETES", "0", any(), inert("MPI binds its own addresses"), \
      "Bind to any address, as Kubernetes pods need.") \
  STARTUP(ps_water_mark, std::optional<int>, "DMLC_PS_WATER_MARK", "auto", at_least(0), inert("no ZeroMQ sockets are used"), \
      "Messages that a socket may queue.") \
  STARTUP(ps_verbose, int, "PS_VERBOSE", "0", at_least(0), inert("MPI has its own: OMPI_MCA_btl_base_verbose"), \
      "Log level of the transport.") \
  STARTUP(ps_drop_msg, int, "PS_DROP_MSG", "0", between(0, 100), inert("MPI delivers reliably"), \
      "Percentage of messages to lose, for tests.") \
  STARTUP(ps_resend, bool, "PS_RESEND", "0", any(), inert("MPI delivers reliably"), \
      "Send lost messages again.") \
  STARTUP(ps_resend_timeout, int, "PS_RESEND_TIMEOUT", "1000", at_least(0), inert("MPI delivers reliably"), \
      "Milliseconds after which a message counts as lost.") \
  STARTUP(ps_heartbeat_interval, int, "PS_HEARTBEAT_INTERVAL", "0", at_least(0), active("Cluster.HeartbeatsAreAsOftenAsConfigured"), \
      "Seconds between signs of life; 0 = 1 second.") \
  STARTUP(ps_heartbeat_timeout, int, "PS_HEARTBEAT_TIMEOUT", "0", at_least(0), active("Cluster.HeartbeatsAreAsOftenAsConfigured"), \
      "Seconds without a sign of life after which a process counts as lost; 0 = 8 seconds.")
// clang-format on
