//! Message memory lent by a publisher: the bridge publishes data written there without a copy of its own.
#[cfg(feature = "rclrs")]
use super::rclrs;
use super::{block::Block, bulk::Bulk};
use std::marker::PhantomData;

/// Memory for the data of one message of type `M`; filled through its slice, then published or dropped.
pub struct Loan<M: Bulk>(pub(super) LoanMemory<M>);

pub(super) enum LoanMemory<M: Bulk> {
    /// CDR is added around the data.
    Block(Block, PhantomData<fn() -> M>),
    /// The array of a message in the type support's layout.
    #[cfg(feature = "rclrs")]
    Message(rclrs::ReusedMessage<M>),
}

impl<M: Bulk> Loan<M> {
    pub(super) fn block(block: Block) -> Self {
        Self(LoanMemory::Block(block, PhantomData))
    }
}

impl<M: Bulk> AsRef<[u8]> for Loan<M> {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            LoanMemory::Block(block, _) => block.data(),
            #[cfg(feature = "rclrs")]
            LoanMemory::Message(message) => message.data(),
        }
    }
}

impl<M: Bulk> AsMut<[u8]> for Loan<M> {
    fn as_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            LoanMemory::Block(block, _) => block.data_mut(),
            #[cfg(feature = "rclrs")]
            LoanMemory::Message(message) => message.data_mut(),
        }
    }
}

impl<M: Bulk> std::fmt::Debug for Loan<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loan({} bytes)", self.as_ref().len())
    }
}
