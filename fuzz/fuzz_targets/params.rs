//! ROS parameter files and the command line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rfly_bridge::config::Params;
use rfly_bridge::config::ros_args::{params_of_file, parse};

fuzz_target!(|text: &str| {
    if let Ok(values) = params_of_file("p.yaml", text, &["/rfly_bridge"]) {
        let _ = Params::from_values(&values);
    }
    let line = std::iter::once("--ros-args").chain(text.split_whitespace());
    let _ = parse(line.map(str::to_owned));
});
