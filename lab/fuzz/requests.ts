import { randomBytes } from 'node:crypto'
import { signNotice } from '@svc/server/http/notice-signature'
import { bytesOf } from './json-text.ts'
import { encryptAs } from './jwes.ts'
import type { Documented } from './operations.ts'
import type { Plan } from './plans.ts'
import { headersOf, RAIL_KEY, type Target, type Tenant } from './target.ts'

export interface Request {
  readonly method: string
  readonly path: string
  /** Names and values by turns. */
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** Who gets the response. */
  readonly tenant: Tenant
  /** Whether method and path are this operation's, as any caller writes them. */
  readonly plain: boolean
}

/** Replaces placeholders by ids that are known by now and by valid secrets; latin1 in and out. */
function withIds(text: string, target: Target, tenant: Tenant): string {
  const filled = text.replace(/@(apiKey|clientId|clientSecret)@/g, (_, name: 'apiKey') => target.given[name])
  return filled.replace(/@(\w+):(\d+):(own|victim|other)@/g, (_, name: string, n: string, whose: string) => {
    const from =
      whose === 'own'
        ? [tenant]
        : whose === 'victim'
          ? target.victims
          : target.tenants.filter((one) => one !== tenant)
    const ids = from.flatMap(({ ids: known }) => known.get(name) ?? [])
    return bytesOf(ids[Number(n) % (ids.length || 1)] ?? `none${n}`)
  })
}

function tenantFor({ scheme }: Documented, { tenants }: Target, n: number): Tenant {
  const [merchant, ...partners] = tenants as [Tenant, ...Tenant[]]
  if (scheme === 'merchant') return merchant
  // The first partner most often: it has funds, cards and coins.
  const partner = partners[n === 0 ? 1 : 0]!
  return scheme === undefined || scheme === 'tenant' ? (n % 2 ? merchant : partner) : partner
}

const outsiderTo = ({ kind }: Tenant, { tenants }: Target): Tenant =>
  tenants.find((one) => one.kind !== kind)!

function credentials(
  operation: Documented,
  plan: Plan,
  target: Target,
  forged: readonly string[],
  tenant: Tenant,
): Record<string, string> {
  const own = operation.scheme === undefined || operation.scheme === 'rail' ? {} : headersOf(tenant)
  const { credential: drawn } = plan
  switch (drawn.kind) {
    case 'own':
      return own
    case 'none':
      return {}
    case 'outsider':
      return headersOf(outsiderTo(tenant, target))
    case 'forged':
      return { ...own, authorization: `Bearer ${forged[drawn.index % forged.length]!}` }
    case 'garbage':
      return { ...own, authorization: drawn.text }
    case 'mixed':
      return { ...own, [drawn.header]: drawn.text }
  }
}

/** A path of this operation with ids of the usual letters. */
const plainPath = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.-]+')}$`)

/** The request that a plan stands for now. */
export async function build(
  operation: Documented,
  plan: Plan,
  target: Target,
  forged: readonly string[],
): Promise<Request> {
  const tenant = tenantFor(operation, target, plan.tenant)
  const path = withIds(plan.path, target, tenant)
  const query = withIds(plan.query, target, tenant)
  const headers = Object.entries(credentials(operation, plan, target, forged, tenant)).flat()
  let body: Buffer | undefined
  if (plan.body) {
    const text = withIds(plan.body.text, target, tenant)
    body = Buffer.from(text, 'latin1')
    if (plan.jwe) {
      const encrypted = await encryptAs(plan.jwe, body, target)
      body = Buffer.from(plan.body.type === 'application/jose' ? encrypted : JSON.stringify(encrypted))
    } else if (operation.id === 'bulkIssueGiftCards') body = await ndjson(text, target, tenant)
    if (plan.body.type !== undefined) headers.push('content-type', plan.body.type)
    if (plan.body.encoding !== undefined) headers.push('content-encoding', plan.body.encoding)
  }
  if (operation.scheme === 'rail' && plan.credential.kind !== 'none')
    headers.push('x-rail-signature', signNotice(body ?? Buffer.alloc(0), RAIL_KEY, Date.now()))
  for (const [name, value] of plan.headers) headers.push(name, withIds(value, target, tenant))
  const where = query ? `${path}?${query}` : path
  return {
    method: operation.method,
    path: where,
    headers,
    body,
    tenant: plan.credential.kind === 'outsider' ? outsiderTo(tenant, target) : tenant,
    plain: plainPath(operation.path).test(path),
  }
}

/** Bulk lines: what was drawn, and one good order among it. */
async function ndjson(text: string, target: Target, { partner }: Tenant): Promise<Buffer> {
  if (!partner) return Buffer.from(text, 'latin1')
  const { companyId, cardAccountId } = partner
  const order = {
    companyId,
    cardAccountId,
    loadAmount: 1,
    mobile: String(9_000_000_000 + randomBytes(3).readUIntBE(0, 3)),
  }
  const line = JSON.stringify(
    await encryptAs({ how: 'well', key: 'P-256' }, Buffer.from(JSON.stringify(order)), target),
  )
  return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(`\n${line}\n`)])
}
