#!/usr/bin/env bash
# One model per file, then one model of all: a job array in one round, with files alone.
#
#   array.sh OUT.bear FILE...                 all parts on this machine, JOBS at a time (default 2)
#   array.sh --part OUT.bear FILE...          one part: the file of SLURM_ARRAY_TASK_ID, from 0
#   array.sh --merge OUT.bear FILE...         the parts that are there, merged
#
# TRAIN holds options for every part, for example TRAIN="--memory 256KiB -k 500 --classes 0,1". All
# parts must have the same; classes must be named unless every file begins with examples of all.
set -euo pipefail

bearsketch=${BEARSKETCH:-bearsketch}
part_of() { echo "$out.parts/$(printf %05d "$1").bear"; }

train_part() { # number, file
  mkdir -p "$out.parts"
  # shellcheck disable=SC2086
  "$bearsketch" train --quiet "$2" -o "$(part_of "$1")" ${TRAIN:-}
}

merge_parts() { # number of parts
  local parts=()
  for ((i = 0; i < $1; i++)); do parts+=("$(part_of "$i")"); done
  "$bearsketch" merge "${parts[@]}" -o "$out"
}

step=all
case ${1:-} in --part | --merge) step=${1#--} && shift ;; esac
out=${1:?a model to write}
shift
files=("$@")

case $step in
part) train_part "$SLURM_ARRAY_TASK_ID" "${files[$SLURM_ARRAY_TASK_ID]}" ;;
merge) merge_parts "${#files[@]}" ;;
all)
  seq 0 $((${#files[@]} - 1)) |
    xargs -P "${JOBS:-2}" -I{} env SLURM_ARRAY_TASK_ID={} "$0" --part "$out" "${files[@]}"
  merge_parts "${#files[@]}"
  ;;
esac
