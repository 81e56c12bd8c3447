#pragma once

// The variables by which launchers tell a process its rank and the number of all: torchrun's, Open MPI's, those of MPICH and Intel MPI, and
// Slurm's. A process that torchrun starts inside a job of Slurm has both: the rank of the inner one counts, which comes first.
namespace nl {

struct LauncherVariables {
  const char* rank;
  const char* world_size;
};

inline constexpr LauncherVariables kRankVariables[] = {
    {"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};

}  // namespace nl
