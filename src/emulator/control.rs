//! Commands to the emulator: one line of text per datagram, answered with one line of JSON.
//!
//! `faults loss=0.1 reorder=0.02 duplicate=0.01 corrupt=0.001 delay_ms=5 delay_jitter_ms=3 seed=7 scope=data` (all
//! optional; what is not named stays unchanged; `faults none` ends them), `restart`, `pause`, `resume`, `speed 0.5`, `stats`,
//! `state` (of renderer and models), `battery 1 12` (vehicle, percent or `none`), `fence 1 30 10` (vehicle, m from home, m above
//! it; 0: no limit).
use super::shared::{SharedState, VehicleRequest};
use super::{autopilot::fence::FenceLimits, faults::Faults};
use serde_json::{Value, json};

/// Executes a command and returns the answer.
pub(super) fn execute(shared: &SharedState, text: &str) -> String {
    let mut words = text.split_whitespace();
    let result = match words.next() {
        Some("faults") => change_faults(shared, words),
        Some("speed") => set_speed(shared, words.next()),
        Some("battery") => override_battery(shared, words),
        Some("fence") => set_fence(shared, words),
        Some("stats") => return stats(shared).to_string(),
        Some("state") => return state(shared).to_string(),
        Some("restart") => {
            shared.restart();
            Ok(())
        }
        Some(word @ ("pause" | "resume")) => {
            shared.set_clock(|clock| clock.set_paused(word == "pause"));
            Ok(())
        }
        Some(word) => Err(format!("unknown command {word:?}")),
        None => Err("no command".to_owned()),
    };
    match result {
        Ok(()) => json!({"ok": true}).to_string(),
        Err(message) => json!({"ok": false, "error": message}).to_string(),
    }
}

/// Parses the vehicle, the first argument of a command.
fn parse_vehicle(shared: &SharedState, word: Option<&str>) -> Result<u16, String> {
    let id = word.and_then(|w| w.parse().ok());
    id.filter(|id| shared.options.world.vehicle(*id).is_some())
        .ok_or_else(|| format!("no vehicle {}", word.unwrap_or_default()))
}

fn override_battery<'a>(
    shared: &SharedState,
    mut words: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let id = parse_vehicle(shared, words.next())?;
    let percent = match words.next() {
        Some("none") => None,
        word => {
            let percent = word.and_then(|w| w.parse().ok());
            let percent = percent.filter(|p: &f64| (0.0..=100.0).contains(p));
            Some(percent.ok_or("battery must be 0 to 100 percent, or none")?)
        }
    };
    shared.request(id, VehicleRequest::Battery(percent));
    Ok(())
}

fn set_fence<'a>(
    shared: &SharedState,
    mut words: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let id = parse_vehicle(shared, words.next())?;
    let mut metres = || -> Option<f64> {
        let metres = words.next()?.parse().ok();
        metres.filter(|m: &f64| *m >= 0.0 && m.is_finite())
    };
    let (Some(distance), Some(height)) = (metres(), metres()) else {
        return Err(
            "fence must be two distances in m, from home and above it; 0 is no limit".to_owned()
        );
    };
    shared.request(id, VehicleRequest::Fence(FenceLimits { distance, height }));
    Ok(())
}

pub(super) fn set_speed(shared: &SharedState, word: Option<&str>) -> Result<(), String> {
    let speed = word.and_then(|w| w.parse::<f64>().ok()).filter(|s| *s > 0.0 && s.is_finite());
    let speed = speed.ok_or("speed must be a number above 0")?;
    shared.set_clock(|clock| clock.set_speed(speed));
    Ok(())
}

fn change_faults<'a>(
    shared: &SharedState,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let mut faults = *shared.faults.lock();
    for word in words {
        if word == "none" {
            faults = Faults { seed: faults.seed, ..Faults::default() };
            continue;
        }
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("{word:?} is not key=value"))?;
        let target = match key {
            "loss" => &mut faults.loss,
            "reorder" => &mut faults.reorder,
            "duplicate" => &mut faults.duplicate,
            "corrupt" => &mut faults.corrupt,
            "delay_ms" => &mut faults.delay_ms,
            "delay_jitter_ms" => &mut faults.delay_jitter_ms,
            "seed" => {
                faults.seed = value.parse().map_err(|e| format!("seed: {e}"))?;
                continue;
            }
            "scope" => {
                let unknown = |_| format!("scope {value:?} is not data, images or imu");
                faults.scope = value.parse().map_err(unknown)?;
                continue;
            }
            _ => return Err(format!("unknown fault {key:?}")),
        };
        let (range, allowed) = match key.starts_with("delay") {
            true => (0.0..=f64::MAX, "at least 0"),
            false => (0.0..=1.0, "0 to 1"),
        };
        let number = value.parse::<f64>().ok().filter(|number| range.contains(number));
        *target = number.ok_or_else(|| format!("{key} must be a number, {allowed}"))?;
    }
    *shared.faults.lock() = faults;
    Ok(())
}

pub(super) fn state(shared: &SharedState) -> Value {
    let mut state = shared.with_renderer(|renderer, at| renderer.state(at));
    let models = shared.models.lock();
    let models = models.iter().map(|(id, model)| (id.to_string(), model.state()));
    state["models"] = Value::Object(models.collect());
    state["ok"] = json!(true);
    state
}

fn stats(shared: &SharedState) -> Value {
    let mut stats = json!(*shared.stats.lock());
    let clock = shared.clock();
    stats["ok"] = json!(true);
    stats["sim_time"] = json!(clock.now());
    stats["start_ns"] = json!(clock.start_ns);
    stats["live"] = json!(shared.sensors.lock().live.len());
    stats
}
