//! `battery` and `sys_status`.
use super::plugin::plugin;
use super::topic::{BestMessage, RosResult};
use crate::vehicle::Fcu;
use crate::{msgs::mavros_msgs::msg::SysStatus, msgs::sensor_msgs::msg::BatteryState};
use crate::{wire::mavlink::dialect::SYS_STATUS_DATA, wire::mavlink::raw::BatteryStatus};

/// Cell voltages of BATTERY_STATUS in mV: no cell, and a cell beyond the range, continued in the next field.
const NO_CELL: u16 = u16::MAX;
const CELL_ABOVE_RANGE: u16 = u16::MAX - 1;
/// Temperature of BATTERY_STATUS in 0.01 deg C: not measured.
const NO_TEMPERATURE: i16 = i16::MAX;

plugin! { BatteryPlugin {
    publish {
        battery: BatteryState("battery", Telemetry, "BATTERY_STATUS, else SYS_STATUS; the current is negative while discharging") in ""
            => |battery| {
                (battery.charge, battery.capacity) = (f32::NAN, f32::NAN);
                battery.design_capacity = f32::NAN;
                battery.power_supply_status = BatteryState::POWER_SUPPLY_STATUS_DISCHARGING;
                battery.present = true;
            };
        sys_status: SysStatus("sys_status", VehicleState, "sensors, load, battery (SYS_STATUS)") in "";
    }
    state { best: BestMessage; }
    receive { dialect::SYS_STATUS_DATA => sys_status, raw::BatteryStatus => battery_status, }
} }

impl BatteryPlugin {
    fn sys_status(&mut self, fcu: &mut Fcu, m: &SYS_STATUS_DATA) -> RosResult {
        fcu.preflight.status = Some([
            m.onboard_control_sensors_present.bits(),
            m.onboard_control_sensors_enabled.bits(),
            m.onboard_control_sensors_health.bits(),
        ]);
        let (stamp, quirks) = (fcu.stamp_now(), fcu.settings.quirks);
        self.sys_status.publish_always(stamp, |status| {
            status.sensors_present = m.onboard_control_sensors_present.bits();
            status.sensors_enabled = m.onboard_control_sensors_enabled.bits();
            status.sensors_health = m.onboard_control_sensors_health.bits();
            (status.load, status.voltage_battery) = (m.load, m.voltage_battery);
            status.current_battery = m.current_battery;
            status.battery_remaining = m.battery_remaining;
            (status.drop_rate_comm, status.errors_comm) = (m.drop_rate_comm, m.errors_comm);
            (status.errors_count1, status.errors_count2) = (m.errors_count1, m.errors_count2);
            (status.errors_count3, status.errors_count4) = (m.errors_count3, m.errors_count4);
        })?;
        if !self.best.accept(1, fcu.arrival()) {
            return Ok(());
        }
        self.battery.publish_always(stamp, |battery| {
            battery.voltage = match m.voltage_battery {
                u16::MAX if !quirks => f32::NAN,
                millivolts => f32::from(millivolts) / 1e3,
            };
            battery.current = current(m.current_battery, quirks);
            battery.percentage = percentage(m.battery_remaining, quirks);
            battery.temperature = if quirks { 0.0 } else { f32::NAN };
            battery.power_supply_technology = BatteryState::POWER_SUPPLY_TECHNOLOGY_UNKNOWN;
            battery.cell_voltage.clear();
            battery.location.clear();
        })
    }

    fn battery_status(&mut self, fcu: &mut Fcu, m: &BatteryStatus) -> RosResult {
        self.best.accept(2, fcu.arrival()); // the best: always accepted
        let (stamp, quirks) = (fcu.stamp_now(), fcu.settings.quirks);
        self.battery.publish_always(stamp, |battery| {
            read_cells(m, &mut battery.cell_voltage);
            battery.voltage = match &*battery.cell_voltage {
                [] if !quirks => f32::NAN,
                cells => cells.iter().sum(),
            };
            battery.current = current(m.current_battery, quirks);
            battery.percentage = percentage(m.battery_remaining, quirks);
            battery.temperature = match m.temperature {
                _ if quirks => 0.0,
                NO_TEMPERATURE => f32::NAN,
                centidegrees => f32::from(centidegrees) / 1e2,
            };
            battery.power_supply_technology = technology(m.kind);
            battery.location = format!("id{}", m.id);
        })
    }
}

/// Returns amperes; in ROS a discharge is negative.
fn current(centiamperes: i16, quirks: bool) -> f32 {
    match centiamperes {
        -1 if !quirks => f32::NAN,
        known => -f32::from(known) / 1e2,
    }
}

fn percentage(percent: i8, quirks: bool) -> f32 {
    match percent {
        ..0 if !quirks => f32::NAN,
        known => f32::from(known) / 1e2,
    }
}

/// MAV_BATTERY_TYPE to ROS' power supply technology.
const fn technology(kind: u8) -> u8 {
    match kind {
        1 => BatteryState::POWER_SUPPLY_TECHNOLOGY_LIPO,
        2 => BatteryState::POWER_SUPPLY_TECHNOLOGY_LIFE,
        3 => BatteryState::POWER_SUPPLY_TECHNOLOGY_LION,
        4 => BatteryState::POWER_SUPPLY_TECHNOLOGY_NIMH,
        _ => BatteryState::POWER_SUPPLY_TECHNOLOGY_UNKNOWN,
    }
}

/// Writes the cell voltages in V, up to the first missing cell.
fn read_cells(m: &BatteryStatus, volts: &mut Vec<f32>) {
    let first = m.voltages.iter().take_while(|cell| **cell != NO_CELL);
    let has_all_ten = m.voltages.iter().all(|cell| *cell != NO_CELL);
    let more = m.voltages_ext.iter().take_while(|cell| has_all_ten && **cell != 0);
    volts.clear();
    let mut carried = 0.0;
    for cell in first.chain(more) {
        let cell_volts = carried + f32::from(*cell) / 1e3;
        if *cell == CELL_ABOVE_RANGE {
            carried = cell_volts;
        } else {
            volts.push(cell_volts);
            carried = 0.0;
        }
    }
    if carried > 0.0 {
        volts.push(carried);
    }
}
