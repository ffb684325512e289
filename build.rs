//! Has the programs export `sendmsg`, so that a middleware that is loaded at run time finds it (`src/ros/pacing`).
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=sendmsg");
    }
}
