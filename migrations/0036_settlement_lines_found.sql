-- A line of a settlement file whose payment arrives later names it then.
grant update (payment_id) on settlement_lines to svc_service;
