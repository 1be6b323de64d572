# Shared by the commands in script/. Source it: it moves to the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export LC_ALL=C.UTF-8   # printf and sort must not depend on the user's language

readonly BUILD_PACKAGES="g++ cmake ninja-build ccache pkg-config git
  liblmdb-dev libhiredis-dev libzookeeper-mt-dev libmariadb-dev libpq-dev libssl-dev libasio-dev libfmt-dev libgtest-dev
  libgmock-dev libsqlite3-dev libcli11-dev nlohmann-json3-dev"
# Servers that the tests start, and their certificates.
readonly TEST_PACKAGES="redis-server openssl zookeeper libslf4j-java mariadb-server postgresql pgbouncer jq
  iproute2 nftables"
readonly CLANG_PACKAGES="clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19"
readonly PEERS=${XDG_CACHE_HOME:-$HOME/.cache}/afar/peers   # other libraries that the interop tests talk to
readonly JOBS=${AFAR_JOBS:-$(nproc)}

die() { echo "${0##*/}: $*" >&2; exit 1; }

# need <package>...: installs the Debian packages that are missing; silent if there are none.
need() {
  local missing=() package as_root=()
  if ! command -v apt-get >/dev/null; then
    echo "${0##*/}: no apt-get here; going on with what is installed" >&2
    return
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
  mkdir -p build
  {
    "${as_root[@]}" update &&
      "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"
  } >build/apt.log 2>&1 </dev/null || die "apt-get could not install ${missing[*]} (build/apt.log)"
}

# in_memory <command>...: with its servers' files in memory, if there is room. On a disk a server that writes before it answers stands
# still with the disk, beside a build for seconds: that is not what is looked for. What a killed one has written is there again also in memory.
in_memory() {
  if [[ -d /dev/shm && $(df --output=avail -m /dev/shm | tail -n 1) -ge 2000 ]]; then TMPDIR=/dev/shm "$@"; else "$@"; fi
}
export -f in_memory

# peer_packages: what it takes to fetch and run the peers; a java or node from elsewhere will do.
peer_packages() {
  command -v javac >/dev/null || echo default-jdk-headless
  command -v mvn >/dev/null || echo maven
  command -v npm >/dev/null || echo nodejs npm
  echo python3-redis libcurator-recipes-java libslf4j-java python3-kazoo
}

# configure <preset>: makes build/<preset>.
configure() {
  mkdir -p build
  cmake --preset "$1" >"build/configure-$1.log" 2>&1 || { tail -n 20 "build/configure-$1.log" >&2; return 1; }
}

# build <preset> [target...]: configures and builds build/<preset>.
build() {
  configure "$1" && cmake --build "build/$1" -j "$JOBS" ${2:+--target "${@:2}"}
}

# stage <name> <command>...: runs it and remembers how long it took; returns its exit code.
stage_times=()
stage() {
  local name=$1 start=$SECONDS rc=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || rc=$?
  stage_times+=("$(printf '%6.1f min  %s' "$(minutes $((SECONDS - start)))" "$name")")
  printf '== %s: %.1f min, %.1f so far\n' "$name" "$(minutes $((SECONDS - start)))" "$(minutes "$SECONDS")"
  return "$rc"
}

minutes() { echo "$(($1 / 60)).$(($1 % 60 * 10 / 60))"; }

print_stage_times() {
  printf '\n== time\n'
  printf '%s\n' "${stage_times[@]}"
  printf '%6.1f min  all\n' "$(minutes "$SECONDS")"
}
