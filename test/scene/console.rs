//! Commands that people type.
use proptest::prelude::*;
use rfly_bridge::scene::check_command;

#[test]
fn good_commands_pass() {
    for good in [
        "t.MaxFPS 30",
        "r.setRes 1280x720w",
        "stat fps",
        "slomo 0.5",
        "RflyShowTextTime hello world 5",
        "RflyShowTextTime \"hello world\" 5",
        "RflyCesiumOriPos 39.9042 116.4074 50 12",
        "RflyClearCapture",
        "RflyClearCapture -1",
        "RflyDisableVeMove 1,2,3 1",
        "rflyensimgsync2 1",
        "RflyFutureCommandOfANewerRelease 1 2 3",
    ] {
        assert_eq!(check_command(good, 249).as_deref(), Ok(good));
    }
    assert_eq!(check_command("  stat fps ", 249).as_deref(), Ok("stat fps"));
}

/// As the vendor's documents write commands for the window of the renderer, and as its client sends them.
#[test]
fn the_forms_of_the_documents_become_those_of_the_wire() {
    for (written, sent) in [
        ("RflyChangeVehicleSize(1000, 10);", "RflyChangeVehicleSize 1000 10"),
        ("RflyChangeMapbyID 5;", "RflyChangeMapbyID 5"),
        ("RflyChangeMapbyName(Grasslands);", "RflyChangeMapbyName Grasslands"),
        ("RflyShowTextTime(take off,5) ;", "RflyShowTextTime \"take off\" 5"),
        ("RflyShowTextTime(\"a, b\", 5);", "RflyShowTextTime \"a, b\" 5"),
        ("RflyClearCapture();", "RflyClearCapture"),
        ("RflyDelVehicles(1,2,3);", "RflyDelVehicles 1,2,3"),
        ("RflyDisableVeMove(1,2,0)", "RflyDisableVeMove 1,2 0"),
        ("stat fps;", "stat fps"),
        ("RflyShowText a(b);", "RflyShowText a(b)"),
    ] {
        assert_eq!(check_command(written, 249).as_deref(), Ok(sent), "{written}");
    }
}

#[test]
fn malformed_commands_are_refused_with_what_would_be_right() {
    for (bad, words) in [
        ("", &["RflyShowTextTime hello 5"] as &[&str]),
        ("   ", &["needed"]),
        ("stat\nfps", &["one line"]),
        ("stat \u{7} fps", &["one line"]),
        ("RflyShowText \"hello", &["`\"` is missing"]),
        ("5 stat", &["name", "\"5\""]),
        ("\"stat\"", &["name"]),
        ("RflyChangeVehicleSize(1000, 10;", &["`)`"]),
        ("RflyChangeVehicleSize(1000,,10)", &["commas", "empty"]),
        ("RflyChangeVehicleSize(ten, 10);", &["whole number", "ten"]),
        ("RflyShowText(hello, world)", &["1 arguments", "got 2"]),
        ("();", &["name"]),
        (";", &["needed"]),
        ("RflyChangeVehicleSize ten 10", &["argument 1", "whole number", "ten"]),
        ("RflyChangeVehicleSize", &["1 to 2 arguments", "got 0"]),
        ("RflyShowText hello world", &["1 arguments", "got 2", "at each end"]),
        ("RflyShowTextTime hello", &["seconds"]),
        ("RflyShowTextTime 5", &["seconds"]),
        ("RflySetCopterLine 1 red", &["RRGGBB", "red"]),
        ("RflySetCopterLine 1 FF00", &["RRGGBB"]),
        ("RflyEnImgSync 2", &["0 or 1"]),
        ("RflyDelVehicles 1;2", &["ids with commas between them"]),
        ("RflySetSimSpeed fast", &["a number", "fast"]),
        ("RflySetSimSpeed NaN", &["a number"]),
        ("RflySetStencilValueByActorName Floor 1 yes", &["True or False"]),
        ("RflyChangeMapbyNme Grasslands", &["RflyChangeMapbyName"]),
        ("RflyMoveVehiclePosAng 1000 1 0 0 0", &["8 arguments", "got 5"]),
    ] {
        let message = check_command(bad, 249).expect_err(bad);
        for word in words {
            assert!(message.contains(word), "{bad}: {word:?} is missing: {message}");
        }
    }
    let long = format!("stat {}", "x".repeat(245));
    assert!(check_command(&long, 249).unwrap_err().contains("250"));
    assert!(check_command(&long[..249], 249).is_ok());
}

proptest! {
    #[test]
    fn what_passes_is_one_line_that_fits(text in "\\PC{0,60}|[ -~\n\t]{0,260}") {
        if let Ok(command) = check_command(&text, 91) {
            prop_assert!(command.len() <= 91 && !command.is_empty());
            prop_assert!(!command.chars().any(char::is_control));
            prop_assert!(command.starts_with(|c: char| c.is_ascii_alphabetic()));
        }
    }
}
