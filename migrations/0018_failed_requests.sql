-- The console's failed requests of a tenant, and those by operation and error together, also where there are none. The
-- statistics say that an operation has few of all errors: taken for independent, they look like thousands of rows.
create index request_log_failures_of_tenant on request_log (tenant_id, request_id) where error is not null;
create index request_log_failures_of_operation on request_log (operation, error, request_id) where error is not null;
create statistics request_log_operation_error (mcv) on operation, error from request_log;
