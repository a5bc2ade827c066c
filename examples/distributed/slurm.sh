#!/usr/bin/env bash
# Submits one Slurm task per file and a task that merges what they wrote.
#
#   TRAIN="--memory 256KiB -k 500 --classes 0,1" slurm.sh OUT.bear FILE...
#
# SBATCH holds options for the tasks, for example SBATCH="--time 1:00:00 --mem 1G".
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${1:?a model to write}
shift
# shellcheck disable=SC2086
array=$(sbatch --parsable ${SBATCH:-} --export=ALL --array="0-$(($# - 1))" \
  "$here/array.sh" --part "$out" "$@")
# shellcheck disable=SC2086
sbatch ${SBATCH:-} --export=ALL --dependency="afterok:$array" "$here/array.sh" --merge "$out" "$@"
