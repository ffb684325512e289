//! Descriptions of all cameras, vehicles and objects.
use crate::msgs::rfly_bridge_msgs::srv::{DescribeAllRequest, DescribeAllResponse};
use crate::scene::datagrams::Recipient;
use crate::scene::state::{Call, Scene};

/// First of the operations for all of a kind (docs/wire/traps.md, object-requests).
const ALL_OF_A_KIND: u8 = 20;

/// `scene/describe_all`.
pub fn describe_all(
    _scene: &mut Scene,
    request: DescribeAllRequest,
    call: &mut Call<'_>,
) -> DescribeAllResponse {
    let last = DescribeAllRequest::ALL;
    if request.kind > last {
        let message = format!(
            "kind must be 0 (cameras), 1 (vehicles), 2 (objects), 3 (vehicles and objects) or {last} (all), is {}",
            request.kind
        );
        return DescribeAllResponse { success: false, message };
    }
    let operation = ALL_OF_A_KIND + request.kind;
    let text = format!("RflyReqObjData {operation} all 0");
    DescribeAllResponse {
        success: call.out.command(Recipient::Windows, &text),
        message: format!(
            "`{text}` was sent. The vendor's documents disagree whether it asks for descriptions of all or ends them: \
             scene/cameras, scene/vehicles and scene/objects show which; what the bridge itself asks for it asks for again"
        ),
    }
}
