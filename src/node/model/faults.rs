//! Faults of the vehicles' models: services, a latched topic, and a timer that ends faults.
use super::VehicleModel;
use super::model_socket::{ModelSocket, READ_ONLY};
use crate::model::{FaultTime, Faults};
use crate::msgs::rfly_bridge_msgs::srv::{
    ClearFaults, ClearFaultsRequest, ClearFaultsResponse, InjectFault, InjectFaultRequest,
    InjectFaultResponse,
};
use crate::node::clock::{HeaderClock, SimClock, host_now};
use crate::node::error::NodeError;
use crate::node::tasks::{self, Endless};
use crate::{config::params::QosGroup, msgs::rfly_bridge_msgs::msg::ActiveFaults, ros::Publisher};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Resolution of the time at which a fault ends.
const TICK: Duration = Duration::from_millis(10);

/// Opens the services and the topic of a vehicle.
pub(super) fn open(model: &mut VehicleModel<'_, '_>) -> Result<(), NodeError> {
    let (context, vehicle) = (model.context, model.socket.vehicle);
    let Some(clock) = context.clocks.of(Some(vehicle)) else { return Ok(()) };
    let topic = model.full_name("model/active_faults");
    let injector = Arc::new(Injector {
        state: Mutex::new(FaultState {
            faults: Faults::new(vehicle, context.settings.params.model.fault_numbers),
            restarts: clock.status().restarts,
            is_failing: false,
        }),
        socket: model.socket.clone(),
        publisher: context.publisher(QosGroup::Latched, &topic)?,
        frame: context.tree.base_link(vehicle),
        clock,
        headers: context.clocks.headers(Some(vehicle)),
        start: context.start,
        changed: Notify::new(),
    });
    injector.publish(&mut injector.state.lock());
    // Guards end in reverse order: the services close before the faults are cleared.
    model.assembly.guards.push(Box::new(ClearOnDrop(injector.clone())));
    let handler = injector.clone();
    let name = model.full_name("model/inject_fault");
    model.serve::<InjectFault>(&name, move |request| handler.inject(&request))?;
    let handler = injector.clone();
    let name = model.full_name("model/clear_faults");
    model.serve::<ClearFaults>(&name, move |request| handler.clear(&request))?;
    tasks::start(&model.runtime, FaultTimer(injector));
    Ok(())
}

struct FaultState {
    faults: Faults,
    /// Restarts of the simulator at the last check.
    restarts: u64,
    /// A fault whose time is over could not be cleared.
    is_failing: bool,
}

/// Injects and clears the faults of one vehicle.
struct Injector {
    state: Mutex<FaultState>,
    socket: ModelSocket,
    publisher: Publisher<ActiveFaults>,
    frame: String,
    clock: Arc<SimClock>,
    headers: HeaderClock,
    start: Instant,
    changed: Notify,
}

impl Injector {
    fn inject(&self, request: &InjectFaultRequest) -> InjectFaultResponse {
        let answer = |success, message| InjectFaultResponse { success, message };
        if self.socket.is_read_only {
            return answer(false, READ_ONLY.to_owned());
        }
        let mut state = self.state.lock();
        let before = state.faults.clone();
        let datagram = match state.faults.inject(request, self.now()) {
            Ok(Some(datagram)) => datagram,
            Ok(None) => return answer(true, "kept alive".to_owned()),
            Err(text) => return answer(false, text),
        };
        if let Err(text) = self.send(&datagram) {
            state.faults = before;
            return answer(false, text);
        }
        self.publish(&mut state);
        self.changed.notify_one();
        answer(true, "injected; a model acknowledges nothing".to_owned())
    }

    fn clear(&self, request: &ClearFaultsRequest) -> ClearFaultsResponse {
        let mut state = self.state.lock();
        let mut cleared = state.faults.clear(&request.kind, request.id, self.now());
        let sent = state.faults.send_cleared(&mut cleared, |datagram| self.send(datagram));
        if !cleared.faults.is_empty() {
            self.publish(&mut state);
        }
        let count = cleared.faults.len();
        let (success, message) = match (cleared.error.is_empty(), sent) {
            (true, Ok(())) => (true, format!("{count} cleared")),
            (true, Err(text)) => (false, format!("{count} cleared, others not: {text}")),
            (false, _) => (false, cleared.error),
        };
        ClearFaultsResponse { success, message, cleared: cleared.faults }
    }

    /// Ends faults whose duration is over, and all faults after a restart of the simulator.
    fn poll(&self) {
        let mut state = self.state.lock();
        let restarts = self.clock.status().restarts;
        let has_restarted = std::mem::replace(&mut state.restarts, restarts) != restarts;
        if has_restarted && state.faults.forget_all() {
            tracing::info!(
                vehicle = self.socket.vehicle,
                "the simulation restarted, which ended the faults of its model"
            );
            self.publish(&mut state);
            return;
        }
        let mut cleared = state.faults.poll(self.now());
        let sent = state.faults.send_cleared(&mut cleared, |datagram| self.send(datagram));
        // What is not sent is sent again at the next tick.
        let was_failing = std::mem::replace(&mut state.is_failing, sent.is_err());
        if let Err(text) = sent
            && !was_failing
        {
            tracing::warn!(
                vehicle = self.socket.vehicle,
                "a fault is not cleared yet: {text}; trying again"
            );
        }
        if !cleared.faults.is_empty() {
            self.publish(&mut state);
        }
    }

    fn send(&self, datagram: &[u8]) -> Result<(), String> {
        self.socket.send(datagram, self.socket.model)
    }

    fn publish(&self, state: &mut FaultState) {
        let mut message =
            ActiveFaults { faults: state.faults.active(self.now()), ..ActiveFaults::default() };
        message.header.stamp = self.headers.now().to_msg();
        message.header.frame_id.clone_from(&self.frame);
        // The publisher counts failures.
        let _counted = self.publisher.publish(&message);
    }

    fn now(&self) -> FaultTime {
        FaultTime {
            sim: self.clock.sim_time_at(host_now()),
            host: self.start.elapsed(),
            stamp: self.headers.now(),
        }
    }
}

struct FaultTimer(Arc<Injector>);

impl Endless for FaultTimer {
    fn name(&self) -> String {
        format!("faults of vehicle {}", self.0.socket.vehicle)
    }

    async fn work(&mut self) {
        loop {
            if self.0.state.lock().faults.is_empty() {
                self.0.changed.notified().await;
            } else {
                tokio::time::sleep(TICK).await;
            }
            self.0.poll();
        }
    }
}

/// Clears all faults when the bridge ends.
struct ClearOnDrop(Arc<Injector>);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        let injector = &self.0;
        let mut state = injector.state.lock();
        let mut cleared = state.faults.clear("", 0, injector.now());
        let sent = state.faults.send_cleared(&mut cleared, |datagram| injector.send(datagram));
        if let Err(text) = sent {
            tracing::warn!(vehicle = injector.socket.vehicle, "faults were not cleared: {text}");
        }
    }
}
