// SPDX-License-Identifier: Apache-2.0
// What MPI itself needs to sum an array over all processes: the peer of dist.py, which starts it.
//   mpirun -np 2 bench_mpi_allreduce ELEMENTS
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? std::atoi(argv[1]) : 25000000;
  std::vector<float> values(static_cast<std::size_t>(count), 1.0f);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double best = 1e9;
  for (int i = 0; i < 8; ++i) {
    std::fill(values.begin(), values.end(), 1.0f);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    best = std::min(best, MPI_Wtime() - start);
  }
  if (rank == 0) std::printf("{\"seconds\": %.6f}\n", best);
  MPI_Finalize();
}
