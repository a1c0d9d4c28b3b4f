#!/bin/sh
# Installs Reeve, one executable for Linux, for the user who runs this:
#
#   REEVE_RELEASE_URL   where the files of a release are
#   REEVE_INSTALL_DIR   the folder for the executable; ~/.local/bin if it is not set
#
# What it downloads is installed only if it has the digest that SHA256SUMS of the same place names.
set -eu

# A release names its own place here.
release_url=

fail() {
  echo "reeve is not installed: $*" >&2
  exit 1
}

# Downloads $1 to $2.
download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto "$schemes" --proto-redir "$schemes" --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    # wget cannot be told to stay with TLS, so it is led nowhere else at all.
    wget --quiet --max-redirect=0 --output-document "$2" "$1"
  else
    fail 'this needs curl or wget'
  fi
}

main() {
  url=${REEVE_RELEASE_URL:-$release_url}
  url=${url%/}
  case $url in
    '') fail 'say where the files of a release are: REEVE_RELEASE_URL=https://... sh install.sh' ;;
    *@*) fail 'REEVE_RELEASE_URL holds a name or a password: no address of a release does' ;;
    https://*) schemes='=https' ;;
    http://127.0.0.1:* | http://localhost:* | 'http://[::1]:'*) schemes='=http' ;;
    *) fail "$url is not an address that begins with https://" ;;
  esac

  [ "$(uname -s)" = Linux ] || fail "there is an executable for Linux only, not for $(uname -s): use npm, or a container"
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is an executable for x64 and arm64, not for $(uname -m)" ;;
  esac
  for program in sha256sum tar gzip; do
    command -v "$program" >/dev/null 2>&1 || fail "this needs $program"
  done
  folder=${REEVE_INSTALL_DIR:-${HOME:?}/.local/bin}

  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT TERM HUP

  download "$url/SHA256SUMS" "$scratch/SHA256SUMS" || fail "$url/SHA256SUMS could not be downloaded"
  line=$(grep -E "^[0-9a-f]{64}  reeve-[0-9][0-9A-Za-z.+-]*-linux-$arch\.tar\.gz\$" "$scratch/SHA256SUMS") ||
    fail "SHA256SUMS of $url names no executable for linux-$arch"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "SHA256SUMS of $url names several executables for linux-$arch"
  archive=${line#*  }
  name=${archive%.tar.gz}

  echo "downloading $url/$archive"
  download "$url/$archive" "$scratch/$archive" || fail "$url/$archive could not be downloaded as a whole"
  (cd "$scratch" && printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1) ||
    fail "$archive does not have the digest that SHA256SUMS names: it is damaged, or somebody has changed it"
  tar -xzf "$scratch/$archive" -C "$scratch" "$name/reeve" "$name/reeve.1" "$name/LICENSE" "$name/licenses.txt" ||
    fail "$archive does not hold what a release has"
  version=$(env -i HOME="$scratch" "$scratch/$name/reeve" --version 2>"$scratch/why" | head -n 1)
  case $version in
    'reeve '*) ;;
    *) fail "the executable does not run here, on $(uname -m). It needs glibc. $(head -n 1 "$scratch/why")" ;;
  esac

  # The shell that runs a gateway of the old version keeps it: the file is replaced, not changed.
  share=$folder/../share
  [ "${folder##*/}" = bin ] || share=$folder/reeve-files
  mkdir -p "$folder" "$share/man/man1" "$share/doc/reeve" || fail "$folder cannot be written: name another by REEVE_INSTALL_DIR"
  cp "$scratch/$name/reeve" "$folder/.reeve.$$" || fail "$folder cannot be written: name another by REEVE_INSTALL_DIR"
  chmod 755 "$folder/.reeve.$$"
  mv -f "$folder/.reeve.$$" "$folder/reeve"
  cp "$scratch/$name/reeve.1" "$share/man/man1/"
  cp "$scratch/$name/LICENSE" "$scratch/$name/licenses.txt" "$share/doc/reeve/"

  echo "$version is in $folder/reeve"
  case :$PATH: in
    *":$folder:"*) next=reeve ;;
    *)
      next=$folder/reeve
      echo "$folder is not in the PATH: add it, as in: export PATH=\"$folder:\$PATH\""
      ;;
  esac
  echo "Next: \"$next demo\" shows it at work, \"$next serve\" runs it."
}

# The last line: what is cut short on its way does nothing.
main
