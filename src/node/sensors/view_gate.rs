//! Changes the view of a sensor (`CameraView`: what parameters change in its messages) with the first frame that shows it.
use crate::doctor::BridgeFacts;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::sensor_views::{SensorView, SensorViews};
use crate::sensors::{FrameHead, FrameStep, Sensor, SensorError, SensorPipeline, ShownView};
use std::sync::Arc;

/// Refuses frames that may show the old or the new view, while a sensor's view changes.
pub(super) struct ViewGate {
    views: SensorViews,
    slot: Arc<SensorView>,
    /// Number of the change that the sensor shows; `None`: it was opened again, and no frame has shown its settings yet.
    changes: Option<u64>,
    /// [`SensorView::reopenings`] after this opening.
    opening: u64,
}

impl ViewGate {
    /// Adds the step to a sensor with its current view. With `awaits_view`, nothing is published before a frame shows the new
    /// settings.
    pub(super) fn add(
        pipeline: &mut SensorPipeline,
        views: &SensorViews,
        slot: Arc<SensorView>,
        awaits_view: bool,
    ) {
        if !awaits_view {
            pipeline.set_view(&slot.view());
        }
        pipeline.add_step(Box::new(Self {
            views: views.clone(),
            changes: (!awaits_view).then(|| slot.changes()),
            opening: slot.reopenings() + u64::from(awaits_view),
            slot,
        }));
    }
}

impl FrameStep for ViewGate {
    fn unsubscribed(&self) {
        if self.changes != Some(self.slot.changes()) && self.slot.reopenings() == self.opening {
            self.views.settle(&self.slot);
        }
    }

    /// Takes over the new view with the first frame that shows it.
    fn before(&mut self, head: &FrameHead, sensor: &mut dyn Sensor) -> Result<(), SensorError> {
        if self.slot.reopenings() != self.opening {
            return Err(SensorError::ViewUnknown);
        }
        self.slot.record_frame(head.arrival);
        let changes = self.slot.changes();
        if self.changes == Some(changes) {
            return Ok(());
        }
        match self.views.judge(&self.slot, head) {
            (ShownView::Old, _) if self.changes.is_some() => Ok(()),
            (ShownView::Old | ShownView::Unknown, _) | (ShownView::New, None) => {
                Err(SensorError::ViewUnknown)
            }
            (ShownView::New, Some(view)) => {
                self.changes = Some(changes);
                sensor.set_view(&view);
                Ok(())
            }
        }
    }
}

/// The status in `/diagnostics`: cameras that the renderer describes with another field of view than configured.
pub(super) struct FieldsOfView(pub(super) SensorViews);

impl Section for FieldsOfView {
    fn check(&mut self) -> Finding {
        let differ = self.0.differing_fields_of_view();
        let (level, message) = match differ.len() {
            0 => (Level::Ok, "the described ones are as configured".to_owned()),
            n => {
                let what = "cameras are described with another field of view than configured";
                (Level::Warn, format!("{n} {what}"))
            }
        };
        let text = |(configured, shown)| format!("differs: {shown}, configured {configured}");
        Finding {
            level,
            message,
            values: { differ.into_iter() }
                .map(|(seq_id, fields)| value(format!("sensor{seq_id}"), text(fields)))
                .collect(),
        }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        let differ = self.0.differing_fields_of_view().into_iter();
        facts.fields_of_view.extend(differ.map(|(seq_id, (asked, shown))| (seq_id, asked, shown)));
    }
}
