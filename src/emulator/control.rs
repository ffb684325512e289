//! Commands to the emulator: one line of text per datagram, answered with one line of JSON.
//!
//! `faults loss=0.1 reorder=0.02 duplicate=0.01 corrupt=0.001 delay_ms=5 delay_jitter_ms=3 seed=7 scope=data` (all
//! optional, others unchanged; `faults none` ends them), `restart`, `pause`, `resume`, `speed 0.5`, `stats`, `battery 1 12`
//! (vehicle, percent; `battery 1 none` ends it), `state` (what renderer and models were told), `fence 1 30 10` (vehicle, m from home, m above it; 0 is no limit).
use super::autopilot::fence::Limits;
use super::faults::{FaultCounts, FaultScope, Faults};
use super::shared::{Order, SensorStats, Shared};
use serde_json::{Map, Value, json};

/// Executes a command and returns the answer.
pub(super) fn obey(shared: &Shared, text: &str) -> String {
    let mut words = text.split_whitespace();
    let result = match words.next() {
        Some("faults") => change_faults(shared, words),
        Some("speed") => set_speed(shared, words.next()),
        Some("battery") => pretend_battery(shared, words),
        Some("fence") => set_fence(shared, words),
        Some("stats") => return stats(shared).to_string(),
        Some("state") => return state(shared).to_string(),
        Some(word) => simple(shared, word),
        None => Err("no command".to_owned()),
    };
    match result {
        Ok(()) => json!({"ok": true}).to_string(),
        Err(message) => json!({"ok": false, "error": message}).to_string(),
    }
}

fn simple(shared: &Shared, word: &str) -> Result<(), String> {
    match word {
        "restart" => shared.restart(),
        "pause" => shared.set_clock(|clock| clock.set_paused(true)),
        "resume" => shared.set_clock(|clock| clock.set_paused(false)),
        _ => return Err(format!("unknown command {word:?}")),
    }
    Ok(())
}

/// Parses the vehicle, the first argument of a command.
fn vehicle(shared: &Shared, word: Option<&str>) -> Result<u16, String> {
    let id = word.and_then(|w| w.parse().ok());
    let known = |id: &u16| shared.options.world.vehicles.iter().any(|v| v.id == *id);
    id.filter(known).ok_or_else(|| format!("no vehicle {}", word.unwrap_or_default()))
}

fn pretend_battery<'a>(
    shared: &Shared,
    mut words: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let id = vehicle(shared, words.next())?;
    let percent = match words.next() {
        Some("none") => None,
        word => {
            let percent = word.and_then(|w| w.parse().ok());
            let percent = percent.filter(|p: &f64| (0.0..=100.0).contains(p));
            Some(percent.ok_or("battery must be 0 to 100 percent, or none")?)
        }
    };
    shared.order(id, Order::Battery(percent));
    Ok(())
}

fn set_fence<'a>(shared: &Shared, mut words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let id = vehicle(shared, words.next())?;
    let mut metres = || -> Option<f64> {
        let metres = words.next()?.parse().ok();
        metres.filter(|m: &f64| *m >= 0.0 && m.is_finite())
    };
    let (Some(distance), Some(height)) = (metres(), metres()) else {
        return Err(
            "fence must be two distances in m, from home and above it; 0 is no limit".to_owned()
        );
    };
    shared.order(id, Order::Fence(Limits { distance, height }));
    Ok(())
}

/// Sets the speed of simulation time.
pub(super) fn set_speed(shared: &Shared, word: Option<&str>) -> Result<(), String> {
    let speed = word.and_then(|w| w.parse::<f64>().ok()).filter(|s| *s > 0.0 && s.is_finite());
    let speed = speed.ok_or("speed must be a number above 0")?;
    shared.set_clock(|clock| clock.set_speed(speed));
    Ok(())
}

fn change_faults<'a>(shared: &Shared, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut faults = shared.faults();
    for word in words {
        if word == "none" {
            faults = Faults { seed: faults.seed, ..Faults::default() };
            continue;
        }
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("{word:?} is not key=value"))?;
        let number = || value.parse::<f64>().ok().filter(|v| *v >= 0.0 && v.is_finite());
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
                faults.scope = scope(value)?;
                continue;
            }
            _ => return Err(format!("unknown fault {key:?}")),
        };
        *target = number().ok_or_else(|| format!("{key} must be a number, at least 0"))?;
    }
    shared.set_faults(|f| *f = faults);
    Ok(())
}

fn scope(value: &str) -> Result<FaultScope, String> {
    match value {
        "data" => Ok(FaultScope::Data),
        "images" => Ok(FaultScope::Images),
        "imu" => Ok(FaultScope::Imu),
        _ => Err(format!("scope {value:?} is not data, images or imu")),
    }
}

fn counts(faults: &FaultCounts) -> Value {
    json!({
        "lost": faults.lost,
        "reordered": faults.reordered,
        "duplicated": faults.duplicated,
        "corrupted": faults.corrupted,
    })
}

/// What the renderer and the models of vehicles were told.
pub(super) fn state(shared: &Shared) -> Value {
    let mut state = shared.staged(|stage, now, motions| stage.state(now, motions));
    let models = shared.models();
    let models = models.iter().map(|(id, told)| (id.to_string(), told.state()));
    state["models"] = Value::Object(models.collect());
    state["ok"] = json!(true);
    state
}

fn stats(shared: &Shared) -> Value {
    let stats = shared.stats().clone();
    let sensor = |s: &SensorStats| {
        json!({
            "type_id": s.type_id,
            "frames": s.frames,
            "harmed": s.harmed,
            "skipped": s.skipped,
            "busy": s.busy,
            "datagrams": s.datagrams,
            "errors": s.errors,
            "bytes": s.bytes,
            "faults": counts(&s.faults),
        })
    };
    let sensors: Map<String, Value> =
        stats.sensors.iter().map(|(id, s)| (id.to_string(), sensor(s))).collect();
    json!({
        "ok": true,
        "sim_time": shared.clock().now(),
        "start_ns": shared.clock().start_ns(),
        "live": shared.sensors().live.len(),
        "sensors": sensors,
        "requests": stats.requests,
        "refused": stats.refused,
        "commands": stats.commands,
        "unknown_commands": stats.unknown_commands,
        "wrong_commands": stats.wrong_commands,
        "scene_packets": stats.scene_packets,
        "model_inputs": stats.model_inputs,
        "heartbeats": stats.heartbeats,
        "imu_samples": stats.imu_samples,
        "imu_faults": counts(&stats.imu_faults),
        "true_states": stats.true_states,
        "restarts": stats.restarts,
    })
}
