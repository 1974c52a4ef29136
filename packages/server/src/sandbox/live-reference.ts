import type { TokenServices } from '../access/authenticate.ts'
import type { Examples, LiveReference } from '../http/worked-examples.ts'
import { live, MissingRecord, type Request, recordsOf } from './live-values.ts'
import { referenceCredentials } from './reference-credentials.ts'
import { encryptedOrder } from './reference-maker.ts'
import { findRecords, type Records } from './reference-records.ts'
import { REQUESTS, type Sent } from './reference-requests.ts'
import { readReferenceTenants } from './reference-tenants.ts'
import { signedExamples } from './signed-examples.ts'

const SETTING_UP = 'The examples of this sandbox are still being created. Load this page again in a moment.'
const NO_CREDENTIALS =
  'Credentials of these examples do not work: they were revoked, or Reference Shop or Reference Partner was disabled. Enable them, then restart the sandbox to get new ones.'
const NO_EXAMPLE =
  '**No example right now.** The record that it needs was used, and a new one could not be created yet. Load this page again in a moment; if this remains, the log of the sandbox has the reason.'

/**
 * Fills the recorded examples with credentials and records of the reference's tenants, as the database has them now.
 * Writes nothing. Where a record is missing, its operation says so, and everything else is filled.
 */
export async function liveReference(services: TokenServices, recorded: Examples): Promise<LiveReference> {
  const tenants = await readReferenceTenants(services.config.DATA_DIR)
  if (!tenants) return { examples: recorded, secrets: {}, notes: {}, notice: SETTING_UP }
  const found = await findRecords(services, tenants)
  const records = recordsOf(found)
  const { merchantToken, partner } = referenceCredentials(services, tenants, found)
  const order = () => encryptedOrder(tenants, { loadAmount: '500' })
  const { merchantId } = tenants.merchant
  const sent: Sent = {
    tenants,
    nowMs: services.clock.of(merchantId).now(),
    orders: [await order(), await order(), await order()],
  }
  const notes: Record<string, string> = {}
  const fill = (id: string, request: Request): Request | undefined => {
    try {
      return filled(id, request, records, sent)
    } catch (error) {
      if (!(error instanceof MissingRecord)) throw error
      notes[id] = NO_EXAMPLE
      return undefined
    }
  }
  const examples = Object.fromEntries(
    Object.entries(recorded).map(([id, list]) => [
      id,
      list.map((example) => {
        const request = example.status < 400 ? fill(id, example.request) : undefined
        return { ...example, request: request ?? example.request }
      }),
    ]),
  )
  const { clientId, clientSecret } = tenants.partner
  return {
    examples: signedExamples(examples, services),
    secrets: {
      ...(merchantToken && { merchant: { 'x-scalar-secret-token': merchantToken } }),
      partner: {
        ...(partner && { 'x-scalar-secret-token': partner.token }),
        'x-scalar-secret-client-id': clientId,
        'x-scalar-secret-client-secret': clientSecret,
      },
      client: { 'x-scalar-secret-username': clientId, 'x-scalar-secret-password': clientSecret },
    },
    ...(partner && { cookie: partner.cookie }),
    notes,
    ...(!(merchantToken && partner) && { notice: NO_CREDENTIALS }),
  }
}

const filled = (id: string, request: Request, records: Records, sent: Sent): Request =>
  live(request, sent.tenants, records, REQUESTS[id]?.(records, sent) ?? {})
