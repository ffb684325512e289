//! Command line and parameter files as rcl reads them.
use proptest::prelude::*;
use rfly_bridge::config::ros_args::{ParamSource, params_of_file, parse, parse_bridge, parse_os};
use rfly_bridge::config::{ParamValue, RosArgs};

fn args(line: &[&str]) -> RosArgs {
    parse(line.iter().map(|s| (*s).to_owned())).unwrap_or_else(|p| panic!("{p}"))
}

fn bridge_args(line: &[&str]) -> RosArgs {
    parse_bridge(line.iter().map(|s| (*s).to_owned())).unwrap_or_else(|p| panic!("{p}"))
}

fn refused(line: &[&str]) -> String {
    parse(line.iter().map(|s| (*s).to_owned())).unwrap_err().to_string()
}

fn value(text: &str) -> ParamValue {
    let line = args(&["--ros-args", "-p", &format!("x:={text}")]);
    match line.sources.as_slice() {
        [ParamSource::Value(name, value)] if name == "x" => value.clone(),
        other => panic!("{other:?}"),
    }
}

fn string(text: &str) -> ParamValue {
    ParamValue::Str(text.to_owned())
}

#[test]
fn values_have_the_types_that_rcl_gives_them() {
    use ParamValue::{Bool, Float, Int, List};
    assert_eq!(value("1"), Int(1));
    assert_eq!(value("-17"), Int(-17));
    assert_eq!(value("0x1F"), Int(31));
    assert_eq!(value("010"), Int(8));
    assert_eq!(value("1.0"), Float(1.0));
    assert_eq!(value("1e3"), Float(1000.0));
    assert_eq!(value(".inf"), Float(f64::INFINITY));
    assert_eq!(value("yes"), Bool(true));
    assert_eq!(value("off"), Bool(false));
    assert_eq!(value("'1'"), string("1"));
    assert_eq!(value("\"true\""), string("true"));
    assert_eq!(value("''"), string(""));
    assert_eq!(value("/tmp/a b/Config.json"), string("/tmp/a b/Config.json"));
    assert_eq!(value("192.168.31.24"), string("192.168.31.24"));
    assert_eq!(value("[1, 2]"), List(vec![Int(1), Int(2)]));
    assert_eq!(value("[a.json, 'b.json']"), List(vec![string("a.json"), string("b.json")]));
    assert_eq!(value("[]"), List(Vec::new()));
    assert_eq!(value("99999999999999999999"), Float(1e20));
}

/// What a parameter becomes when it is given so.
fn given(name: &str, text: &str) -> ParamValue {
    let line = args(&["--ros-args", "-p", &format!("{name}:={text}")]);
    let file = format!("/**:\n  ros__parameters:\n    {name}: {text}\n");
    let file = params_of_file("p.yaml", &file, &["/rfly_bridge"]).unwrap();
    match line.sources.as_slice() {
        [ParamSource::Value(_, value)] => {
            assert_eq!(file, [(name.to_owned(), value.clone())], "a file says the same");
            value.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_a_text_is_wanted_words_that_yaml_takes_for_something_else_stay_as_written() {
    for word in
        ["off", "on", "yes", "no", "y", "N", "true", "False", "1", "1.5", "1e3", "0x10", ".inf"]
    {
        for name in [
            "control.link",
            "vehicle2.link",
            "frame_prefix",
            "topic_prefix",
            "map_frame",
            "sensor3.topic",
            "config",
        ] {
            assert_eq!(given(name, word), string(word), "{name}");
        }
    }
    assert_eq!(
        given("config", "[on, 1.json]"),
        ParamValue::List(vec![string("on"), string("1.json")])
    );
    assert_eq!(given("transport_mode", "2"), string("2"));
    // No word of the list, and no text.
    assert_eq!(given("time.mode", "off"), ParamValue::Bool(false));
    assert_eq!(given("tf.publish", "off"), ParamValue::Bool(false));
    assert_eq!(given("imu.rate_hz", "100"), ParamValue::Int(100));
    assert_eq!(given("qos.image.depth", "1"), ParamValue::Int(1));
}

#[test]
fn the_link_is_switched_off_as_documented() {
    let link = [("control.link".to_owned(), given("control.link", "off"))];
    let params = rfly_bridge::config::Params::from_values(&link).unwrap();
    assert_eq!(params.control.link, rfly_bridge::config::ControlLink::Off);
}

#[test]
fn ros_sections_end_with_two_dashes_and_may_occur_again() {
    let found = args(&[
        "run",
        "--ros-args",
        "-p",
        "a:=1",
        "--",
        "-x",
        "--ros-args",
        "--param",
        "b:=2",
        "--remap",
        "c:=d",
    ]);
    assert_eq!(found.rest, ["run", "-x"]);
    let int = |name: &str, v| ParamSource::Value(name.to_owned(), ParamValue::Int(v));
    assert_eq!(found.sources, [int("a", 1), int("b", 2)]);
    assert_eq!(found.remaps, [("c".to_owned(), "d".to_owned())]);
}

#[test]
fn without_ros_args_everything_belongs_to_the_program() {
    let line = ["-p", "a:=1", "--vehicles", "2", "--config=x.json", "y.json", "--"];
    assert_eq!(args(&line).rest, line);
}

#[test]
fn what_is_unmistakable_needs_no_ros_args_for_the_bridge() {
    let args = bridge_args;
    let config = |files: &[&str]| {
        let files = files.iter().map(|file| string(file)).collect();
        ParamSource::Value("config".to_owned(), ParamValue::List(files))
    };
    let int = |name: &str, v| ParamSource::Value(name.to_owned(), ParamValue::Int(v));
    let found = args(&["My Config.JSON", "-p", "window:=1", "-r", "imu:=imu/data"]);
    assert_eq!(found.sources, [config(&["My Config.JSON"]), int("window", 1)]);
    assert_eq!(found.remaps, [("imu".to_owned(), "imu/data".to_owned())]);
    assert!(found.rest.is_empty());
    let words = ["a.json", "b.json", "--config=c", "--params-file", "p.yaml", "--log-level=debug"];
    let found = args(&words);
    assert_eq!(found.sources[2], config(&["a.json", "b.json", "c"]), "the last one counts");
    assert_eq!(found.sources[3], ParamSource::File("p.yaml".into()));
    assert_eq!(found.log_level.as_deref(), Some("debug"));
    // The same for subcommands, before and after `--ros-args`.
    let found = args(&["doctor", "Config.json", "--json", "--ros-args", "-p", "window:=2"]);
    assert_eq!(found.rest, ["doctor", "--json"]);
    assert_eq!(found.sources, [config(&["Config.json"]), int("window", 2)]);
}

#[test]
fn options_of_subcommands_stay_theirs() {
    let args = bridge_args;
    let line = ["pub", "-r", "10", "-p", "2", "/a", "std_msgs/msg/String", "{data: x.json}"];
    assert_eq!(args(&line).rest, line);
    let file = ["calib", "--for", "kalibr", "--output", "out.json"];
    assert_eq!(args(&file).rest, file, "only what follows the subcommand is its configuration");
    assert_eq!(args(&["--", "-x"]).rest, ["--", "-x"]);
    assert_eq!(args(&["--help", "parameters"]).rest, ["--help", "parameters"]);
}

#[test]
fn a_parameter_in_another_form_is_told_how_to_write_it() {
    let refused =
        |line: &[&str]| parse_bridge(line.iter().map(|s| (*s).to_owned())).unwrap_err().to_string();
    let text = refused(&["simulator_address:=1.2.3.4", "--window=2", "-p", "x"]);
    for wanted in [
        "write -p simulator_address:=1.2.3.4",
        "is a parameter: write -p window:=2",
        "must have the form name:=value",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(refused(&["-p"]).contains("needs a value"));
    assert!(refused(&["--config"]).contains("needs a value"));
}

#[test]
fn names_levels_and_files_are_found() {
    let found = args(&[
        "--ros-args",
        "-r",
        "__node:=cam",
        "-r",
        "__ns:=/drone/one",
        "--log-level",
        "WARN",
        "--params-file",
        "/x/p.yaml",
        "--log-level",
        "rcl:=debug",
        "--disable-rosout-logs",
        "-e",
        "/enclave",
        "-r",
        "rosservice://a:=b",
        "-r",
        "rostopic://~/a:=/b",
    ]);
    assert_eq!(found.node_name.as_deref(), Some("cam"));
    assert_eq!(found.namespace.as_deref(), Some("/drone/one"));
    assert_eq!(found.log_level.as_deref(), Some("warn"));
    assert_eq!(found.sources, [ParamSource::File("/x/p.yaml".into())]);
    assert_eq!(found.remaps, [("~/a".to_owned(), "/b".to_owned())]);
}

#[test]
fn the_first_matching_name_rule_counts_as_in_rcl() {
    assert_eq!(
        args(&["--ros-args", "-r", "__node:=a", "-r", "__node:=b"]).node_name.as_deref(),
        Some("a")
    );
}

#[test]
fn a_log_level_is_for_the_logger_of_this_node() {
    let level = |line: &[&str]| args(&[&["--ros-args"], line].concat()).log_level;
    let debug = Some("debug".to_owned());
    assert_eq!(level(&["--log-level", "rfly_bridge:=debug"]), debug);
    assert_eq!(level(&["--log-level", "rfly_bridge_x:=debug"]), None);
    let front = ["--log-level", "front:=debug", "-r", "__node:=front"];
    assert_eq!(level(&front), debug);
    assert_eq!(level(&["-r", "__node:=front", "--log-level", "rfly_bridge:=debug"]), None);
    assert_eq!(level(&["-r", "__ns:=/a/b", "--log-level", "a.b.rfly_bridge:=debug"]), debug);
    assert_eq!(level(&["--log-level", "debug", "--log-level", "rfly_bridge:=unset"]), None);
}

#[test]
fn rules_for_another_node_are_left_to_it() {
    let found = args(&[
        "--ros-args",
        "-p",
        "talker:a:=1",
        "-r",
        "talker:x:=y",
        "-r",
        "rfly_bridge:__node:=cam",
        "-p",
        "cam:b:=2",
        "-r",
        "cam:u:=v",
    ]);
    assert_eq!(found.node_name.as_deref(), Some("cam"));
    assert_eq!(found.sources, [ParamSource::Value("b".to_owned(), ParamValue::Int(2))]);
    assert_eq!(found.remaps, [("u".to_owned(), "v".to_owned())]);
}

#[test]
fn all_mistakes_of_a_command_line_are_reported_at_once() {
    let text = refused(&[
        "--ros-args",
        "-p",
        "a=1",
        "-p",
        "b:=",
        "-p",
        "c:={d: 1}",
        "-r",
        "x:=1bad",
        "-r",
        "__ns:=relative",
        "--parms-file",
        "f.yaml",
        "--log-level",
        "inf",
        "-p",
    ]);
    insta::assert_snapshot!(text);
}

const FQN: &[&str] = &["/drone/rfly_bridge"];

fn names_in(text: &str) -> Vec<String> {
    let found = params_of_file("p.yaml", text, FQN).unwrap_or_else(|p| panic!("{p}"));
    found.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn only_sections_that_match_the_full_name_apply() {
    let section = |name: &str| names_in(&format!("{name}:\n  ros__parameters:\n    a: 1\n")).len();
    for hit in [
        "/**",
        "/drone/rfly_bridge",
        "drone/rfly_bridge",
        "/*/rfly_bridge",
        "/drone/*",
        "/**/rfly_bridge",
        "/drone/**",
    ] {
        assert_eq!(section(hit), 1, "{hit}");
    }
    for miss in [
        "rfly_bridge",
        "/rfly_bridge",
        "/*",
        "/other/**",
        "/drone",
        "/drone/rfly_bridge/*",
        "/drone/rfly",
    ] {
        assert_eq!(section(miss), 0, "{miss}");
    }
    assert_eq!(
        names_in(
            "drone:\n  rfly_bridge:\n    ros__parameters: {b: 2}\n  other:\n    ros__parameters: {c: 3}\n"
        ),
        ["b"]
    );
}

#[test]
fn nested_maps_become_dotted_names_and_the_order_of_the_file_stays() {
    let text = "
/**:
  ros__parameters:
    imu.rate_hz: 100
    qos_overrides:
      /tf:
        publisher: {depth: 7}
drone/rfly_bridge:
  ros__parameters:
    imu:
      rate_hz: 400
      topic: 'on'
    config: [a.json, b.json]
";
    let found = params_of_file("p.yaml", text, FQN).unwrap();
    let list = ParamValue::List(vec![string("a.json"), string("b.json")]);
    let expected = [
        ("imu.rate_hz", ParamValue::Int(100)),
        ("qos_overrides./tf.publisher.depth", ParamValue::Int(7)),
        ("imu.rate_hz", ParamValue::Int(400)),
        ("imu.topic", string("on")),
        ("config", list),
    ];
    assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn mistakes_in_a_parameter_file_are_reported_with_their_lines() {
    let text = "/**:\n  ros__parameters:\n    a:\n    b: [[1]]\n    c: 1\nwindow: 3\nros__parameters: {x: 1}\n";
    insta::assert_snapshot!(params_of_file("bridge.yaml", text, FQN).unwrap_err().to_string());
    let broken =
        params_of_file("bridge.yaml", "/**:\n  ros__parameters:\n    a: [1, 2\n    b: 3\n", FQN)
            .unwrap_err();
    assert!(broken.0[0].path.starts_with("bridge.yaml:"), "{broken}");
    let alias =
        params_of_file("bridge.yaml", "/**:\n  ros__parameters:\n    a: &x 1\n    b: *x\n", FQN)
            .unwrap_err();
    assert_eq!(alias.0[0].path, "bridge.yaml:4", "{alias}");
}

#[test]
fn an_empty_file_and_an_empty_section_are_fine() {
    assert_eq!(names_in(""), Vec::<String>::new());
    assert_eq!(names_in("# nothing\n"), Vec::<String>::new());
    assert_eq!(
        names_in("/**:\n  ros__parameters:\n    # all commented out\n"),
        Vec::<String>::new()
    );
}

proptest! {
    #[test]
    fn arbitrary_text_is_a_value_or_a_problem_but_no_panic(text in any::<String>()) {
        let _ = params_of_file("p.yaml", &text, FQN);
        let _ = parse(["--ros-args".to_owned(), "-p".to_owned(), text.clone(), "-r".to_owned(), text]);
    }

    #[test]
    fn yaml_like_text_is_a_value_or_a_problem_but_no_panic(text in "[-\\[\\]{}:,&*!|>'\"%@ \n\t#a1/~?]{0,60}") {
        let _ = params_of_file("p.yaml", &text, FQN);
        let below = format!("/**:\n  ros__parameters:\n    a: {text}\n");
        let _ = params_of_file("p.yaml", &below, FQN);
    }

    #[test]
    fn what_a_value_prints_reads_back_equal(text in any::<String>(), number in any::<f64>(), int in any::<i64>(), flag in any::<bool>()) {
        prop_assume!(!number.is_nan());
        for expected in [ParamValue::Str(text), ParamValue::Float(number), ParamValue::Int(int), ParamValue::Bool(flag)] {
            prop_assert_eq!(value(&expected.to_string()), expected);
        }
    }
}

#[test]
fn an_argument_in_another_encoding_is_named() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    let gbk = OsString::from_vec(b"/home/\xc5\xe4\xd6\xc3/Config.json".to_vec());
    let problems = parse_os([OsString::from("doctor"), gbk]).expect_err("not UTF-8");
    let text = problems.to_string();
    assert!(text.contains("argument 2") && text.contains("UTF-8"), "{text}");
}
