//! Applies parameter changes to the running bridge.
use crate::config::params::{Checked, Store};
use crate::config::{ParamValue, Problems};
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
        let prepare = self.prepare.iter();
        let prepared = prepare.map(|prepare| prepare(&self.settings, &settings));
        let prepared: Vec<Change> = prepared.collect::<Result<_, _>>()?;
        self.store.commit(&checked);
        for (name, value) in &checked.changes {
            match told {
                true => tracing::info!("parameter {name} set to {value}"),
                false => tracing::debug!("parameter {name} set to {value}"),
            }
        }
        self.settings = settings;
        let effects = prepared.into_iter().map(|change| change()).collect();
        self.changes.send_replace(self.settings.clone());
        Ok((checked, effects))
    }
}
