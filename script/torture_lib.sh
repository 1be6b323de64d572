# Shared by script/torture_runs and script/soak: runs of test/torture, and what they did together. Source it after lib.sh.
readonly TORTURE_BINARY=build/release/test/torture/afar_torture_run_test

# torture_run <folder> <name> <seconds> [<seed>]: one run in a process of its own. Leaves <name>.json, .html, .xml, .log and .rc.
torture_run() {
  local folder=$1 name=$2 rc=0 start=$SECONDS
  export AFAR_TORTURE_REPORTS=$folder AFAR_TORTURE_SECONDS=$3
  [[ -z ${4-} ]] || export AFAR_TORTURE_SEED=$4
  rm -f "$folder/$name".{json,html,xml,log,rc}
  in_memory timeout $(($3 + 240)) "$TORTURE_BINARY" --gtest_filter="*.$name" --gtest_output="xml:$folder/$name.xml" \
    &>"$folder/$name.log" || rc=$?
  echo "$rc" >"$folder/$name.rc"
  if ((rc)); then
    echo "$name: FAILED after $((SECONDS - start)) s, see $folder/$name.log"
    grep -E 'BROKEN|INVALID|Failure|what\(\)|ERROR' "$folder/$name.log" | head -n 12 || true
  elif [[ -f $folder/$name.json ]]; then
    jq -r --arg name "$name" --arg s $((SECONDS - start)) \
      '"\($name): \(.grants) grants, \(.kills) kills, \(.stops) stops, \(.answers_lost) answers lost, \($s) s"' "$folder/$name.json"
  else
    echo "$name: skipped"
  fi
}
export -f torture_run
export TORTURE_BINARY

# torture_sums <report.json>...: one JSON object of all together. A run's name begins with its engine.
torture_sums() {
  jq -n '
    def bites(pattern): [.[].faults | to_entries[] | select(.key | test(pattern)) | .value] | add // 0;
    [inputs | . + {run: (input_filename | split("/")[-1] | rtrimstr(".json"))}]
    | { grants: (map({key: (.run | sub("_.*"; "") | sub("3$"; "") | if . == "sentinel" or . == "cluster" then "redis" else . end), value: .grants})
                 | group_by(.key) | map({key: .[0].key, value: (map(.value) | add)}) | from_entries),
        kills: (map(.kills) | add), pauses: (map(.stops) | add), partitions: bites("^partition"), failovers: bites("^fail over"),
        lost_replies: (map(.answers_lost) | add), refused: (map(.stale_writes_refused) | add), outside: (map(.outside) | add),
        broken: (map(.violations | length) | add), invalid: (map(select(.invalid != [])) | length) }' "$@"
}

# torture_line <sums>: for people.
torture_line() {
  jq -r '"torture: \([.grants | to_entries[] | "\(.value) grants on \(.key)"] | join(", ")); \(.kills) kills, \(.pauses) pauses, \(.partitions) partitions, \(.failovers) failovers, \(.lost_replies) lost replies; \(.refused) stale writes refused; \(.broken) promises broken, \(.outside) outside of the guarantees, \(.invalid) runs invalid"' <<<"$1"
}
