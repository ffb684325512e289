//! Errors measured against the known truth; `UPDATE_DOCS=1 cargo test --test it time::table` writes them to
//! `docs/time.md`.
use super::world::*;
use rfly_bridge::time::{AlignerSettings, Estimator};

/// A scenario and what is promised of it, in µs of error: at most `early` in the first 5 s (99 of 100 stamps), at most
/// `upset` in the 15 s after something happened at 20 s (median), at most `settled` in the last 20 s (every stamp).
struct Row {
    scenario: Scenario,
    early: f64,
    upset: f64,
    settled: f64,
}

fn rows() -> Vec<Row> {
    let row = |name, [early, upset, settled]: [f64; 3], change: fn(&mut Scenario)| {
        let mut scenario = Scenario::new(name, &[IMU, CAMERA]);
        change(&mut scenario);
        Row { scenario, early, upset, settled }
    };
    vec![
        row("IMU 200 Hz and camera 30 Hz", [500.0, 120.0, 120.0], |_| {}),
        row("host clock 200 ppm fast, 1 h", [500.0, 120.0, 120.0], |s| {
            (s.host_ppm, s.seconds) = (200.0, 3600.0);
        }),
        row("host clock 200 ppm slow, 1 h", [500.0, 120.0, 120.0], |s| {
            (s.host_ppm, s.seconds) = (-200.0, 3600.0);
        }),
        row("every second datagram lost", [8_000.0, 120.0, 120.0], |s| {
            s.sources.iter_mut().for_each(|x| x.loss = 0.5);
        }),
        row("ten times the jitter", [1_000.0, 150.0, 150.0], |s| {
            s.sources.iter_mut().for_each(|x| x.jitter_ms *= 10.0);
        }),
        row("2 s of congestion, +40 ms", [500.0, 120.0, 120.0], |s| {
            s.events = vec![(20.0, Event::Congestion(40.0, 2.0))];
        }),
        row("simulation at half speed", [100_000.0, 120.0, 120.0], |s| s.speed = 0.5),
        row("simulation at double speed", [60_000.0, 120.0, 120.0], |s| s.speed = 2.0),
        row("speed 1 to 0.5 on the way", [500.0, 1_000.0, 200.0], |s| {
            s.events = vec![(20.0, Event::Speed(0.5))];
        }),
        row("pause of 10 s", [500.0, 200.0, 150.0], |s| {
            s.events = vec![(20.0, Event::Pause(10.0))]
        }),
        row("restart after 3 s of silence", [500.0, 200.0, 120.0], |s| {
            s.events = vec![(20.0, Event::Restart(3.0))];
        }),
        row("host clock set 1 s ahead", [500.0, 200.0, 120.0], |s| {
            s.events = vec![(20.0, Event::HostStep(1.0))];
        }),
        row("host clock set 1 s back", [500.0, 20_000.0, 2_000.0], |s| {
            s.events = vec![(20.0, Event::HostStep(-1.0))];
        }),
        row("IMU starts 20 s after the camera", [10_000.0, 4_000.0, 200.0], |s| {
            s.sources[0].from_s = 20.0;
        }),
        row("camera 30 Hz alone", [8_000.0, 3_050.0, 3_050.0], |s| s.sources = vec![CAMERA]),
        row("camera 10 Hz alone, half speed", [400_000.0, 5_000.0, 3_200.0], |s| {
            (s.speed, s.sources) = (0.5, vec![Source { rate_hz: 10.0, ..CAMERA }]);
        }),
    ]
}

#[test]
fn every_scenario_stays_within_its_bounds_and_the_document_shows_them() {
    let mut table = String::from(
        "| scenario (60 s unless said) | first 5 s, p99 | 20..35 s, median | last 20 s, worst | drift seen | vendor's rule, last 20 s, worst |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for Row { scenario, early, upset, settled } in rows() {
        let (stamped, status) = run(&scenario);
        let end = scenario.seconds;
        let seen = [
            errors(&stamped, 0.0, 5.0).p99,
            errors(&stamped, 20.0, 35.0).median,
            errors(&stamped, end - 20.0, end).worst,
        ];
        let mut vendor = scenario.clone();
        vendor.settings = AlignerSettings { estimator: Estimator::Vendor, ..Default::default() };
        let vendor = errors(&run(&vendor).0, end - 20.0, end).worst;
        let [a, b, c, v] =
            [seen[0], seen[1], seen[2], vendor].map(|us| format!("{:.2} ms", us / 1e3));
        let name = scenario.name;
        table += &format!("| {name} | {a} | {b} | {c} | {:.1} ppm | {v} |\n", status.drift_ppm);
        for (seen, promised) in seen.into_iter().zip([early, upset, settled]) {
            assert!(seen <= promised, "{name}: {seen} µs, promised {promised} µs\n{table}");
        }
    }
    println!("{table}");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/time.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (begin, end) = ("<!-- table: begin -->\n", "<!-- table: end -->");
    let (head, rest) = text.split_once(begin).expect("docs/time.md has a place for the table");
    let (old, tail) = rest.split_once(end).expect("docs/time.md has an end of the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, format!("{head}{begin}{table}{end}{tail}")).unwrap();
    } else {
        // The numbers depend on the last bits of `ln` and `exp2` of the machine; what is measured must be the same.
        let names = |t: &str| {
            t.lines()
                .map(|l| l.split('|').nth(1).unwrap_or("").trim().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(old),
            names(&table),
            "docs/time.md is out of date: UPDATE_DOCS=1 cargo test --test it time::table"
        );
    }
}
