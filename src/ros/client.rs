//! Clients of services.
use super::service::{ServiceTypes, encode_padded};
use super::{Backend, Middleware, RosError, ServiceInfo, backend::CdrClient, subscription::decode};
use crate::msgs::Service;
use std::marker::PhantomData;

/// A client of one service; leaves the graph on drop.
pub struct Client<S: Service> {
    name: String,
    caller: Caller<S>,
}

enum Caller<S: Service> {
    Cdr(Box<dyn CdrClient>, PhantomData<fn() -> S>),
    #[cfg(feature = "rclrs")]
    Rclrs(rclrs::Client<S::TypeSupport>),
}

impl Middleware {
    /// A client of a service of the graph.
    pub fn client<S: Service>(&self, name: &str) -> Result<Client<S>, RosError> {
        let name = self.resolve(name)?;
        let caller = match &self.shared.backend {
            Backend::Cdr(node) => {
                Caller::Cdr(node.client(&name, ServiceTypes::of::<S>())?, PhantomData)
            }
            #[cfg(feature = "rclrs")]
            Backend::Rclrs(node) => Caller::Rclrs(node.client::<S>(&name)?),
        };
        Ok(Client { name, caller })
    }

    /// Services of the whole ROS graph that have a server, as far as discovered.
    pub fn servers(&self) -> Vec<ServiceInfo> {
        self.shared.backend.node().servers()
    }
}

impl<S: Service> Client<S> {
    /// Full name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a server is matched; requests before that are lost.
    pub fn is_ready(&self) -> bool {
        match &self.caller {
            Caller::Cdr(client, _) => client.is_ready(),
            #[cfg(feature = "rclrs")]
            Caller::Rclrs(client) => client.service_is_ready().unwrap_or(false),
        }
    }

    /// Sends a request. `answer` gets the response on the middleware's receive thread, and is dropped uncalled if
    /// the client ends before.
    pub fn call(
        &self,
        request: S::Request,
        answer: impl FnOnce(Result<S::Response, RosError>) + Send + 'static,
    ) -> Result<(), RosError> {
        match &self.caller {
            Caller::Cdr(client, _) => {
                let answer = move |cdr: &[u8]| answer(decode(cdr));
                client.call(&encode_padded(&request)?, Box::new(answer))
            }
            #[cfg(feature = "rclrs")]
            Caller::Rclrs(client) => client
                .call_then(request, move |response: S::Response| answer(Ok(response)))
                .map(drop)
                .map_err(|e| super::rclrs::error("rcl_send_request", &self.name, &e)),
        }
    }
}
