//! What run-time parameters change in the messages of one sensor, from the first frame that shows it.
use crate::msgs::sensor_msgs::msg::Image;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::views::{Slot, Views};
use crate::ros::Loan;
use crate::sensors::{ForeignFrame, Frame, LentFrame, Sensor, SensorError, Shown, View};
use crate::time::RosTime;
use std::sync::Arc;

/// A sensor whose view may change while it runs. Frames that may show either view are not published.
pub(super) struct Viewed {
    sensor: Box<dyn Sensor>,
    views: Views,
    slot: Arc<Slot>,
    /// Changes of the slot that the sensor has; `None`: it was opened again, and no frame has shown it yet.
    changes: Option<u64>,
    /// Which opening of the sensor this is.
    opening: u64,
}

impl Viewed {
    /// A sensor with the view of its slot; if it is opened `again`, nothing is published before a frame shows what it was
    /// opened for.
    pub(super) fn around(
        mut sensor: Box<dyn Sensor>,
        views: &Views,
        seq_id: u16,
        again: bool,
    ) -> Box<dyn Sensor> {
        let Some(slot) = views.slot(seq_id) else {
            return sensor;
        };
        if !again {
            sensor.set_view(&slot.view());
        }
        Box::new(Self {
            sensor,
            views: views.clone(),
            changes: (!again).then(|| slot.changes()),
            opening: slot.opened() + u64::from(again),
            slot,
        })
    }

    /// Whether a change is on its way.
    fn changes(&self) -> bool {
        self.changes != Some(self.slot.changes())
    }

    /// Takes over the new view with the first frame that shows it.
    fn pass(&mut self, frame: &LentFrame) -> Result<(), SensorError> {
        if self.slot.opened() != self.opening {
            return Err(SensorError::ViewUnknown);
        }
        self.slot.flows(frame.arrival);
        let changes = self.slot.changes();
        if self.changes == Some(changes) {
            return Ok(());
        }
        let times = (frame.sim_time, frame.arrival, frame.stamp);
        match self.views.judge(&self.slot, times) {
            (Shown::Old, _) if self.changes.is_some() => Ok(()),
            (Shown::Old | Shown::Unknown, _) | (Shown::New, None) => Err(SensorError::ViewUnknown),
            (Shown::New, Some(view)) => {
                self.changes = Some(changes);
                self.sensor.set_view(&view);
                Ok(())
            }
        }
    }
}

impl Sensor for Viewed {
    fn wanted(&self) -> bool {
        let wanted = self.sensor.wanted();
        if !wanted && self.changes() && self.slot.opened() == self.opening {
            self.views.settle(&self.slot);
        }
        wanted
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.pass(&frame.lent())?;
        self.sensor.accept(frame)
    }

    fn lend(&self) -> Option<Loan<Image>> {
        self.sensor.lend()
    }

    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        self.pass(frame)?;
        self.sensor.accept_loan(loan, frame)
    }

    fn accept_foreign(&mut self, frame: &ForeignFrame<'_>) -> Option<Result<(), SensorError>> {
        // It does not say when it is from.
        match self.changes() {
            false => self.sensor.accept_foreign(frame),
            true => None,
        }
    }

    fn due(&self) -> Option<RosTime> {
        self.sensor.due()
    }

    fn release(&mut self, now: RosTime) -> Option<Result<(), SensorError>> {
        self.sensor.release(now)
    }

    fn set_view(&mut self, view: &View) {
        self.sensor.set_view(view);
    }
}

/// The status in `/diagnostics`: cameras that the renderer describes with another field of view than was asked for.
pub(super) struct FieldsOfView(pub(super) Views);

impl Section for FieldsOfView {
    fn name(&self) -> &'static str {
        "fields of view"
    }

    fn look(&mut self) -> Finding {
        let differ = self.0.other_fields_of_view();
        let (level, message) = match differ.len() {
            0 => (Level::Ok, "none is described to differ".to_owned()),
            n => {
                let what = "cameras are described with another one than is configured";
                (Level::Warn, format!("{n} {what}"))
            }
        };
        let text = |(asked, shown)| format!("differs: {shown}, configured {asked}");
        Finding {
            level,
            message,
            values: { differ.into_iter() }
                .map(|(seq_id, fields)| value(format!("sensor{seq_id}"), text(fields)))
                .collect(),
        }
    }
}
