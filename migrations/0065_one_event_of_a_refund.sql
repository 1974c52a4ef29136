-- run: in batches
-- `payment.refunded` alone says that a payment was refunded: endpoints that chose the other event of it get that one.
update webhook_endpoints e
set types = (
  select array_agg(distinct t.type order by t.type)
  from unnest(array_replace(e.types, 'qr_code.payment_refunded', 'payment.refunded')) t (type))
from (
  select tenant_id, endpoint_id from webhook_endpoints
  where 'qr_code.payment_refunded' = any (types) limit 500) w
where e.tenant_id = w.tenant_id and e.endpoint_id = w.endpoint_id;
