//! Checks across all sensors of all files.
use super::entry::{Draft, default_port};
use super::fields::Findings;
use crate::config::{Mount, Problem};

/// Maximum number of sensors that the simulator renders per machine.
const MAX_SENSORS: usize = 32;

pub(super) fn check(drafts: &mut [Draft], findings: &mut Findings) {
    check_seq_ids(drafts, findings);
    separate_ports(drafts, findings);
    check_ports(drafts, findings);
    check_carriers(drafts, findings);
    let mut kept = drafts.iter().filter(|draft| !draft.is_skipped);
    if let Some(draft) = kept.nth(MAX_SENSORS) {
        let most = format!("the simulator renders at most {MAX_SENSORS} sensors per machine");
        let message = format!("{most}, found {}", MAX_SENSORS + 1 + kept.count());
        findings.problems.push(&draft.path, message);
    }
    warn_of_moved_transport(drafts, findings);
}

fn check_seq_ids(drafts: &[Draft], findings: &mut Findings) {
    for (i, draft) in drafts.iter().enumerate() {
        let Some(seq_id) = draft.seq_id else { continue };
        if let Some(first) = drafts[..i].iter().find(|earlier| earlier.seq_id == Some(seq_id)) {
            let (before, after) = match draft.is_auto {
                true => ("0 stands for the next number, here ", ", which"),
                false => ("", ""),
            };
            let why = format!("{before}{seq_id}{after} is also the SeqID of {}", first.path);
            findings.problems.push(format!("{}.SeqID", draft.path), why);
        }
    }
}

/// Gives a sensor whose entry selects shared memory, where ports do not matter, its default port if another has the same port.
fn separate_ports(drafts: &mut [Draft], findings: &mut Findings) {
    let taken: Vec<_> = drafts.iter().map(|d| (d.seq_id, d.udp_port)).collect();
    let is_taken = |seq_id, port| taken.iter().any(|(id, other)| *id != seq_id && *other == port);
    for draft in drafts.iter_mut().filter(|draft| draft.is_shm_in_file) {
        let default = draft.seq_id.and_then(default_port);
        let (Some(port), Some(default)) = (draft.udp_port, default) else { continue };
        if port == default || !is_taken(draft.seq_id, Some(port)) {
            continue;
        }
        draft.udp_port = Some(default);
        if let Some(sensor) = &mut draft.sensor {
            sensor.port = default;
        }
        let what = format!(
            "{port} is the port of other sensors, too; with shared memory it does not matter, over UDP {default} is used (9999 + SeqID)"
        );
        findings.warnings.push(Problem::new(format!("{}.SendProtocol[5]", draft.path), what));
    }
}

/// Reports equal ports of sensors with different SeqIDs; [`check_seq_ids`] reports equal SeqIDs.
fn check_ports(drafts: &[Draft], findings: &mut Findings) {
    for (i, draft) in drafts.iter().enumerate() {
        let Some(port) = draft.udp_port.filter(|port| *port != 0) else { continue };
        let clashes = |other: &&Draft| other.udp_port == Some(port) && other.seq_id != draft.seq_id;
        if let Some(first) = drafts[..i].iter().find(clashes) {
            let why = format!("UDP port {port} is also used by {}", first.path);
            findings.problems.push(format!("{}.SendProtocol[5]", draft.path), why);
        }
    }
}

/// Checks that carrying sensors come first, because they must be requested first; this also excludes cycles.
fn check_carriers(drafts: &[Draft], findings: &mut Findings) {
    for (i, draft) in drafts.iter().enumerate() {
        let Some(Mount::Sensor(carrier)) = draft.mount else { continue };
        let carrying = drafts[..i].iter().find(|d| d.seq_id == Some(carrier));
        let path = format!("{}.TargetCopter", draft.path);
        if let Some(carrying) = carrying {
            if carrying.is_skipped && !draft.is_skipped {
                let message = format!("its carrier, {}, is left out", carrying.path);
                findings.problems.push(path, message);
            }
            continue;
        }
        let why = match drafts[i..].iter().position(|later| later.seq_id == Some(carrier)) {
            Some(0) => {
                format!("it names the carrying sensor, and sensor {carrier} cannot carry itself")
            }
            Some(later) => {
                let what = "it names the carrying sensor, which must come earlier";
                format!("{what}; sensor {carrier} is {}", drafts[i + later].path)
            }
            None => {
                let earlier: Vec<String> =
                    drafts[..i].iter().filter_map(|d| d.seq_id).map(|id| id.to_string()).collect();
                let known = match earlier[..] {
                    [] => ", but no sensor is earlier".to_owned(),
                    _ => format!(" ({})", earlier.join(", ")),
                };
                format!("it must be the SeqID of an earlier sensor{known}; it is {carrier}")
            }
        };
        let message = format!("with TargetMountType 4 {why}");
        findings.problems.push(path, message);
    }
}

fn warn_of_moved_transport(drafts: &[Draft], findings: &mut Findings) {
    let mut drafts = drafts.iter().filter(|draft| draft.is_moved_to_udp);
    if let Some(first) = drafts.next() {
        let count = 1 + drafts.count();
        let what = format!(
            "is 0 (shared memory), {count} sensor(s) in all; UDP mode 1 is used, as the vendor's loader does on Linux \
             (transport_mode:=file keeps shared memory)"
        );
        findings.warnings.push(Problem::new(format!("{}.SendProtocol[0]", first.path), what));
    }
}
