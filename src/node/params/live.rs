//! Applies parameter changes to the running bridge.
use crate::config::params::{Checked, Store};
use crate::config::{ParamValue, Problems};
#[cfg(has_rfly_bridge_msgs)]
use crate::config::{Problem, SensorConfig, config_json};
use crate::node::assembly::{Change, InEffect, Prepare};
use crate::node::settings::Settings;
use crate::ros::Qos;
use std::sync::Arc;
use tokio::sync::watch;

/// The parameters, and the parts of the bridge that they change.
pub(super) struct Live {
    pub(super) store: Store,
    settings: Arc<Settings>,
    changes: watch::Sender<Arc<Settings>>,
    prepare: Vec<Prepare>,
}

impl Live {
    pub(super) fn new(
        changes: watch::Sender<Arc<Settings>>,
        prepare: Vec<Prepare>,
        publishers: &[(String, Qos)],
    ) -> Self {
        let settings = changes.borrow().clone();
        let origin = &settings.origin;
        let unit = |sensor: &_| settings.unit_of(sensor);
        let store = Store::new(
            &origin.values,
            &settings.params,
            &origin.sensors,
            unit,
            publishers,
        );
        Self {
            store,
            settings,
            changes,
            prepare,
        }
    }

    /// Sets all of the values, or none and returns why; what waits for the effect is returned. What comes as a stream is not
    /// `told` to everybody.
    pub(super) fn set(
        &mut self,
        values: &[(String, ParamValue)],
        told: bool,
    ) -> Result<(Checked, Vec<InEffect>), Problems> {
        let checked = self.store.check(values)?;
        let settings = Arc::new(self.settings.changed(checked.params.clone())?);
        let prepared = self.prepare(&settings)?;
        self.store.commit(&checked);
        for (name, value) in &checked.changes {
            match told {
                true => tracing::info!("parameter {name} set to {value}"),
                false => tracing::debug!("parameter {name} set to {value}"),
            }
        }
        Ok((checked, self.take_over(settings, prepared)))
    }

    /// Adds a sensor, a row of Config.json, or returns all that is wrong with it; with what was made of the row.
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) fn add(
        &mut self,
        row: &str,
    ) -> Result<(SensorConfig, Vec<Problem>, Vec<InEffect>), Problems> {
        let overrides = self.settings.params.vendor_overrides();
        let others = &self.settings.origin.sensors;
        let (sensor, notes) = config_json::one_more(row, others, &overrides)?;
        let settings = Arc::new(self.settings.with_sensor(sensor.clone())?);
        let prepared = self.prepare(&settings)?;
        self.store.add_sensor(&sensor, settings.unit_of(&sensor));
        Ok((sensor, notes, self.take_over(settings, prepared)))
    }

    fn prepare(&self, settings: &Arc<Settings>) -> Result<Vec<Change>, Problems> {
        let prepare = self.prepare.iter();
        let prepared = prepare.map(|prepare| prepare(&self.settings, settings));
        prepared.collect()
    }

    fn take_over(&mut self, settings: Arc<Settings>, prepared: Vec<Change>) -> Vec<InEffect> {
        self.settings = settings;
        let effects = prepared.into_iter().map(|change| change()).collect();
        self.changes.send_replace(self.settings.clone());
        effects
    }
}
