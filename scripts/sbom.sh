#!/usr/bin/env bash
# Writes what the stand-alone programs are made of, from Cargo.lock: CycloneDX 1.5, target/sbom/rfly_bridge.cdx.json.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.5.9

if ! cargo cyclonedx --version >/dev/null 2>&1; then
    echo "sbom: installing cargo-cyclonedx $version"
    cargo install -q cargo-cyclonedx --version "$version" --locked
fi
out=${CARGO_TARGET_DIR:-target}/sbom
mkdir -p "$out"
# It writes beside Cargo.toml, and without versions where the lock file is not honoured.
cargo metadata --locked --format-version 1 >/dev/null
cargo cyclonedx -q --format json --spec-version 1.5 --override-filename rfly_bridge.cdx
mv rfly_bridge.cdx.json "$out/"
echo "sbom: $out/rfly_bridge.cdx.json, $(grep -c '"purl"' "$out/rfly_bridge.cdx.json") packages"
