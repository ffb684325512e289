//! The topics of a file as a table.
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

/// Calls a handler; its signature determines the types of a closure.
pub(super) fn handle<M>(
    autopilot: &mut Autopilot,
    topic: &'static str,
    message: &M,
    handler: impl FnOnce(&mut Autopilot, &'static str, &M),
) {
    handler(autopilot, topic, message);
}
