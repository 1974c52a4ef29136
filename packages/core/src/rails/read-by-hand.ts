/** The condition that an operator read what a row `p` records in a notice that waited in quarantine. */
export const READ_IN_QUARANTINE = `exists (
  select from rail_notices n
  where n.payment_id = p.payment_id and n.status = 'ASSIGNED' and n.body = p.notice)`
