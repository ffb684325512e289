//! The reports that clients have requested from the renderer, which sends them to port 20006.
use std::collections::BTreeSet;

/// Selected objects of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    has_all: bool,
    named: BTreeSet<String>,
}

impl Selection {
    pub(super) fn has(&self, name: &str) -> bool {
        self.has_all || self.named.contains(name)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct ReportRequests {
    pub(super) cameras: Selection,
    pub(super) vehicles: Selection,
    pub(super) objects: Selection,
    /// Vehicles and their collisions.
    pub(super) vehicle_data: bool,
    /// A new request arrived, to be answered before the next period.
    pub(super) is_new: bool,
}

impl ReportRequests {
    /// Executes `RflyReqObjData operation name colour`.
    pub(super) fn request(&mut self, operation: u32, name: &str) {
        let kinds = [&mut self.cameras, &mut self.vehicles, &mut self.objects];
        for (kind, selection) in (0..).zip(kinds) {
            match operation {
                0..=2 if operation == kind => drop(selection.named.insert(name.to_owned())),
                10..=12 if operation - 10 == kind => {
                    selection.has_all = false;
                    selection.named.remove(name);
                }
                20..=22 if operation - 20 == kind => selection.has_all = true,
                23 => selection.has_all |= kind > 0,
                24 => selection.has_all = true,
                _ => {}
            }
        }
        self.is_new = true;
    }

    /// Executes `RflyReqVehicleData`.
    pub(super) fn set_vehicle_data(&mut self, is_on: bool) {
        self.vehicle_data = is_on;
        self.is_new = true;
    }
}
