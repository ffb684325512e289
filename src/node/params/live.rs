//! Applies parameter changes to the running bridge.
use crate::config::params::{Checked, Store};
use crate::config::{ParamValue, Problems};
#[cfg(has_rfly_bridge_msgs)]
use crate::config::{Problem, SensorConfig, config_json};
use crate::node::assembly::{AwaitEffect, PrepareChange, PreparedChange};
use crate::node::settings::Settings;
use crate::ros::Qos;
use std::sync::Arc;
use tokio::sync::watch;

/// The parameters, and the callbacks that apply their changes.
pub(super) struct LiveParameters {
    pub(super) store: Store,
    settings: Arc<Settings>,
    changes: watch::Sender<Arc<Settings>>,
    preparers: Vec<PrepareChange>,
}

impl LiveParameters {
    pub(super) fn new(
        changes: watch::Sender<Arc<Settings>>,
        preparers: Vec<PrepareChange>,
        publishers: &[(String, Qos)],
    ) -> Self {
        let settings = changes.borrow().clone();
        let origin = &settings.origin;
        let unit = |sensor: &_| settings.unit_of(sensor);
        let store = Store::new(&origin.values, &settings.params, &origin.sensors, unit, publishers);
        Self { store, settings, changes, preparers }
    }

    /// Sets all values and returns callbacks that wait for the effect, or sets none and returns why. Changes are logged at level
    /// info if `is_logged`, otherwise at debug.
    pub(super) fn set(
        &mut self,
        values: &[(String, ParamValue)],
        is_logged: bool,
    ) -> Result<(Checked, Vec<AwaitEffect>), Problems> {
        let checked = self.store.check(values)?;
        let settings = Arc::new(self.settings.changed(checked.params.clone())?);
        let prepared = self.prepare(&settings)?;
        self.store.commit(&checked);
        for (name, value) in &checked.changes {
            if is_logged {
                tracing::info!("parameter {name} set to {value}")
            } else {
                tracing::debug!("parameter {name} set to {value}")
            }
        }
        Ok((checked, self.apply(settings, prepared)))
    }

    /// Adds a sensor from an entry of Config.json, or returns all faults of the entry. Problems returned with a sensor are notes.
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) fn add(
        &mut self,
        row: &str,
    ) -> Result<(SensorConfig, Vec<Problem>, Vec<AwaitEffect>), Problems> {
        let overrides = self.settings.params.vendor_overrides();
        let others = &self.settings.origin.sensors;
        let (sensor, notes) = config_json::load_one(row, others, &overrides)?;
        let settings = Arc::new(self.settings.with_sensor(sensor.clone())?);
        let prepared = self.prepare(&settings)?;
        self.store.add_sensor(&sensor, settings.unit_of(&sensor));
        Ok((sensor, notes, self.apply(settings, prepared)))
    }

    fn prepare(&self, settings: &Arc<Settings>) -> Result<Vec<PreparedChange>, Problems> {
        self.preparers.iter().map(|prepare| prepare(&self.settings, settings)).collect()
    }

    fn apply(&mut self, settings: Arc<Settings>, changes: Vec<PreparedChange>) -> Vec<AwaitEffect> {
        self.settings = settings;
        let effects = changes.into_iter().map(|change| change()).collect();
        self.changes.send_replace(self.settings.clone());
        effects
    }
}
