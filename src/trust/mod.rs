//! Trust between cluster and host: what a join makes, and the credential that an agent works with.
