-- What an operator creates outside of a command stores its response in the same transaction (decision C13).
grant insert on idempotency_keys to svc_operator;
