//! Declares the topics of one file as a table.
use crate::vehicle::Autopilot;

/// Declares topics: message, name, documentation, and a handler `(&mut Autopilot, topic, &Message)`.
macro_rules! subscriptions {
    ($($message:ident($name:literal, $doc:literal) => $handler:expr;)+) => {
        pub(super) const TOPICS: &[$crate::config::TopicRow] = &[$(
            $crate::config::TopicRow::subscribed(
                $name,
                <$message as $crate::msgs::Message>::TYPE,
                $doc,
            ),
        )+];

        pub(super) fn open(open: &$crate::vehicle::Open<'_>) -> Result<(), $crate::ros::RosError> {
            $(open.subscribe($name, |autopilot, message: $message| {
                $crate::vehicle::setpoint::subscriptions::handle(
                    autopilot, $name, &message, $handler,
                );
            })?;)+
            Ok(())
        }
    };
}
pub(super) use subscriptions;

/// Calls `handler`; from this signature the compiler infers the argument types of a closure.
pub(super) fn handle<M>(
    autopilot: &mut Autopilot,
    topic: &'static str,
    message: &M,
    handler: impl FnOnce(&mut Autopilot, &'static str, &M),
) {
    handler(autopilot, topic, message);
}
