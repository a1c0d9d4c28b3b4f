#!/bin/sh
# Assembles what the image holds beyond its base: sh deploy/image/assemble.sh FOLDER ARCHITECTURE
#
# It runs in the root of the sources, after `npm install`.
set -eu
image=$1
case $2 in
  amd64) cpu=x64 ;;
  arm64) cpu=arm64 ;;
  *) echo "there is no image for the architecture \"$2\", only for amd64 and arm64" >&2; exit 1 ;;
esac

mkdir -p "$image/usr/local/bin" "$image/usr/local/share/licenses/node" "$image/opt/reeve" "$image/var/lib/reeve"

# The Node that the tests run on, for the target: the version and the checksum are those of runtime/package-lock.json.
node=node-linux-$cpu
locked() { node -p "require('./runtime/package-lock.json').packages['node_modules/$node'].$1"; }
archive=$(npm pack --silent "$node@$(locked version)")
sum=$(node -p "'sha512-' + require('node:crypto').createHash('sha512').update(require('node:fs').readFileSync('$archive')).digest('base64')")
[ "$sum" = "$(locked integrity)" ] || { echo "$archive is not what runtime/package-lock.json names" >&2; exit 1; }
tar -xzf "$archive" package/bin/node package/LICENSE
mv package/bin/node "$image/usr/local/bin/node"
mv package/LICENSE "$image/usr/local/share/licenses/node/LICENSE"
rm -r "$archive" package

# One bundle in place of the sources and their packages, and the files that it reads.
node_modules/.bin/node scripts/assemble-command.ts "$image/opt/reeve"
cp LICENSE deploy/image/healthcheck.mjs "$image/opt/reeve/"

cat > "$image/usr/local/bin/reeve" <<'END'
#!/bin/sh
# The shell is replaced, so that the process keeps its id and gets its signals itself. The room for young objects is that
# of bin/reeve.mjs.
young=; [ "$1" = serve ] && young="--min-semi-space-size=16 --max-semi-space-size=64"
exec /usr/local/bin/node $young /opt/reeve/bin/reeve.mjs "$@"
END
chmod -R u=rwX,go=rX "$image"
chmod 755 "$image/usr/local/bin/reeve" "$image/usr/local/bin/node"
chmod 700 "$image/var/lib/reeve"
