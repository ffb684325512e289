//! The program's command line, run as launch files run it.
use std::process::{Command, Stdio};
use std::time::Duration;

fn version(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rflysim_emulator")).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// `ros2 launch` starts every `Node` as `program <arguments> --ros-args [...]`.
#[test]
fn ros_arguments_of_a_launch_file_are_ignored() {
    let plain = version(&["--version"]);
    assert_eq!(plain, version(&["--version", "--ros-args"]));
    assert_eq!(
        plain,
        version(&["--ros-args", "-r", "__node:=simulator", "-p", "a:=1", "--", "--version"])
    );
}

#[test]
fn options_that_cannot_be_are_refused_with_their_names() {
    for (option, value, reason) in [
        ("--battery", "120", "0 to 100 percent"),
        ("--fence", "5", "1 numbers instead of 2"),
        ("--autopilot", "serial", "possible values"),
        ("--start-index", "256", "CopterIDs above 255"),
        ("--clock-drift-ppm", "-1000000", "-100000 to 100000"),
        ("--link", "1e-300", "at least 0.001 Gbit/s"),
        ("--link", "NaN", "at least 0.001 Gbit/s"),
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_rflysim_emulator"))
            .args([option, value])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ended = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            program.try_wait().unwrap().is_some()
        });
        let _ended_already = program.kill();
        let output = program.wait_with_output().unwrap();
        assert!(ended, "{option} {value} is not refused: it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(errors.contains(option) && errors.contains(reason), "{errors}");
    }
}
