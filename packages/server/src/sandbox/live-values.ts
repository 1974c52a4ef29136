import type { Examples } from '../http/worked-examples.ts'
import type { Found, Records } from './reference-records.ts'
import type { ReferenceTenants } from './reference-tenants.ts'

export type Request = Examples[string][number]['request']

/** A record that an example needs and the database does not have. */
export class MissingRecord extends Error {
  override name = 'MissingRecord'
}

/** Throws `MissingRecord` where a record is read that was not found. */
export const recordsOf = (found: Found): Records =>
  new Proxy(found as Records, {
    get(records, name) {
      const value: unknown = Reflect.get(records, name)
      if (value === null || value === undefined) throw new MissingRecord(String(name))
      return value
    },
  })

type Value = (records: Records) => string

/** The live value of each kind of id and secret, by its prefix in the recorded examples. */
const VALUES: Readonly<Record<string, (tenants: ReferenceTenants) => Value>> = {
  svc_test_:
    ({ merchant }) =>
    () =>
      merchant.apiKey,
  svc_secret_:
    ({ partner }) =>
    () =>
      partner.clientSecret,
  cli_:
    ({ partner }) =>
    () =>
      partner.clientId,
  mak_:
    ({ merchant }) =>
    () =>
      merchant.accessKey,
  mer_:
    ({ merchant }) =>
    () =>
      merchant.merchantId,
  par_:
    ({ partner }) =>
    () =>
      partner.partnerId,
  com_:
    ({ partner }) =>
    () =>
      partner.companyId,
  acc_:
    ({ partner }) =>
    () =>
      partner.cardAccountId,
  usr_:
    ({ partner }) =>
    () =>
      partner.userId,
  ccf_: () => (records) => records.coinConfigId,
  qr_: () => (records) => records.qrCodeId,
  card_: () => (records) => records.svcCardId,
  crd_: () => (records) => records.cardToken,
  blk_: () => (records) => records.jobId,
  whe_: () => (records) => records.endpointId,
  evt_: () => (records) => records.eventId,
}

/** A recorded request with the values of this sandbox, and with what the operation has of its own. Throws `MissingRecord`. */
export function live(recorded: Request, tenants: ReferenceTenants, records: Records, own: Request): Request {
  // What an operation has of its own replaces whole parts: no record is needed for those of the recorded request.
  const kept = { ...recorded, ...own, headers: { ...recorded.headers, ...own.headers } }
  const text = JSON.stringify(kept).replace(
    /\b(svc_test_|svc_secret_|[a-z]{2,4}_)[0-9a-z_]{20,}/g,
    (id, prefix: string) => VALUES[prefix]?.(tenants)(records) ?? id,
  )
  return { ...(JSON.parse(text) as Request), ...own, headers: headersOf(text, own) }
}

const headersOf = (text: string, own: Request) => ({
  ...(JSON.parse(text) as Request).headers,
  ...own.headers,
})
