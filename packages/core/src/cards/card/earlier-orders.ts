import { createHash } from 'node:crypto'
import { type ErrorCode, Failure, fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { canonicalJson } from '@svc/kernel/canonical-json'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { bytes, instant, nullable, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { CardKey } from './card.ts'
import type { CardView } from './card-record.ts'
import { readCardViewsNow } from './card-view.ts'
import type { GiftCardOrder } from './gift-card-order.ts'

/** Encrypted orders that created no card and count as used: rejected ones, and repeats of an earlier order (decision R7). */
export const usedOrders = table('card_used_orders', 'o', ['partnerId', 'ciphertextHash'], {
  partnerId: text,
  ciphertextHash: bytes,
  /** The card of the earlier order; `null` for a rejected one. */
  svcCardId: nullable(text),
  error: nullable(textOf<ErrorCode>()),
  description: nullable(text),
  createdAt: instant,
})
export type UsedOrder = RowOf<typeof usedOrders>

/** SHA-256 of what an order requests, its reference left out. */
export function orderDigest(order: GiftCardOrder): Buffer {
  const { companyId, cardAccountId, userId, physical, loadPaise, holder } = order
  const content = [companyId, cardAccountId, userId ?? null, physical, loadPaise?.toString() ?? null, holder]
  return createHash('sha256').update(canonicalJson(content)).digest()
}

/** What an order is compared by. */
export interface Comparable {
  readonly tenantId: string
  readonly ciphertextHash: Buffer | undefined
  readonly order: GiftCardOrder
  /** Kept of orders that a later one may repeat. */
  readonly digest: Buffer | null
  /** How long an order with the same content, and without a reference and a key, is the same order; 0: not at all. */
  readonly repeatMs: number
  /** What the tenant's clock is ahead of the database's, in milliseconds. */
  readonly clockOffsetMs: number
  readonly timeZone: string
}

/** Orders of a partner that later ones may repeat. Keys are references, and digests or hashes in base64. */
export interface EarlierOrders {
  readonly used: Map<string, Pick<UsedOrder, 'svcCardId' | 'error' | 'description'>>
  readonly byReference: Map<string, { readonly svcCardId: string; readonly digest: string | null }>
  readonly byContent: Map<string, string>
  readonly views: Map<string, CardView>
}

interface EarlierCard extends CardKey {
  readonly referenceNumber: string | null
  readonly digest: string | null
}

const USED = statement<UsedOrder>(
  'card_orders_used',
  `select ${usedOrders.columns} from card_used_orders o
   where (o.partner_id, o.ciphertext_hash) in (select * from unnest($1::text[], $2::bytea[]))`,
)
const CARD = `c.partner_id as "partnerId", c.svc_card_id as "svcCardId", c.reference_number as "referenceNumber",
  encode(c.order_digest, 'base64') as digest`
const BY_REFERENCE = statement<EarlierCard>(
  'card_orders_by_reference',
  `select ${CARD} from cards c
   where (c.partner_id, c.reference_number) in (select * from unnest($1::text[], $2::text[]))`,
)
// By the database's time, which cards are stamped with (decision X35).
const BY_CONTENT = statement<EarlierCard>(
  'card_orders_by_content',
  `select ${CARD} from unnest($1::text[], $2::bytea[], $3::bigint[]) as w (partner_id, digest, ahead_ms)
   join cards c on c.partner_id = w.partner_id and c.order_digest = w.digest
     and c.reference_number is null
     and c.created_at > clock_timestamp() + w.ahead_ms * interval '1 millisecond'
   order by c.created_at`,
)

const base64 = (digest: Buffer): string => digest.toString('base64')

/** What orders name of earlier ones: used ciphertexts, cards with their reference, and cards with their content. */
async function findEarlier(
  tx: BatchTx,
  orders: readonly Comparable[],
): Promise<[used: UsedOrder[], referenced: EarlierCard[], same: EarlierCard[]]> {
  const encrypted = orders.filter(({ ciphertextHash }) => ciphertextHash)
  const referred = orders.filter(({ order }) => order.referenceNumber !== undefined)
  const compared = orders.filter(({ repeatMs }) => repeatMs > 0)
  return Promise.all([
    encrypted.length === 0
      ? []
      : tx.query(
          USED,
          columns(
            encrypted,
            (o) => o.tenantId,
            (o) => o.ciphertextHash,
          ),
        ),
    referred.length === 0
      ? []
      : tx.query(
          BY_REFERENCE,
          columns(
            referred,
            (o) => o.tenantId,
            (o) => o.order.referenceNumber,
          ),
        ),
    compared.length === 0
      ? []
      : tx.query(
          BY_CONTENT,
          columns(
            compared,
            (o) => o.tenantId,
            (o) => o.digest,
            (o) => o.clockOffsetMs - o.repeatMs,
          ),
        ),
  ])
}

/**
 * Reads what orders may repeat. Called when the card accounts are locked, so that it sees what the lock waited for: two
 * orders with the same content have the same card account.
 */
export async function readEarlierOrders(
  tx: BatchTx,
  orders: readonly Comparable[],
): Promise<ByTenant<EarlierOrders>> {
  const [used, referenced, same] = await findEarlier(tx, orders)
  const earlier = new ByTenant(
    (): EarlierOrders => ({
      used: new Map(),
      byReference: new Map(),
      byContent: new Map(),
      views: new Map(),
    }),
  )
  for (const row of used) earlier.of(row.partnerId).used.set(base64(row.ciphertextHash), row)
  for (const { partnerId, svcCardId, referenceNumber, digest } of referenced)
    earlier.of(partnerId).byReference.set(referenceNumber ?? '', { svcCardId, digest })
  for (const { partnerId, svcCardId, digest } of same)
    earlier.of(partnerId).byContent.set(digest ?? '', svcCardId)
  const keys = [
    ...used.flatMap(({ partnerId, svcCardId }) => (svcCardId ? [{ partnerId, svcCardId }] : [])),
    ...referenced,
    ...same,
  ]
  const [first] = orders
  const offsets = new Map(orders.map(({ tenantId, clockOffsetMs }) => [tenantId, clockOffsetMs]))
  const wanted = keys.flatMap(({ partnerId, svcCardId }) => {
    const clockOffsetMs = offsets.get(partnerId)
    return clockOffsetMs === undefined ? [] : [{ partnerId, svcCardId, clockOffsetMs }]
  })
  const views = wanted.length === 0 || !first ? [] : await readCardViewsNow(tx, wanted, first.timeZone)
  for (const view of views) earlier.of(view.card.partnerId).views.set(view.card.svcCardId, view)
  return earlier
}

/**
 * Pure. The card of the order that this one repeats. Fails as it did before where it was rejected, and where its
 * reference belongs to another order.
 */
export function repeatedOrder(
  { used, byReference, byContent, views }: EarlierOrders,
  { ciphertextHash, order: { referenceNumber }, digest, repeatMs }: Comparable,
): CardView | undefined {
  const usedBefore = ciphertextHash && used.get(base64(ciphertextHash))
  if (usedBefore?.error) throw new Failure(usedBefore.error, { description: usedBefore.description ?? '' })
  if (usedBefore) return views.get(usedBefore.svcCardId ?? '')
  const content = digest && base64(digest)
  const referred = referenceNumber === undefined ? undefined : byReference.get(referenceNumber)
  if (referred && referred.digest !== content)
    fail('order_reference_in_use', {
      description: `The card ${referred.svcCardId} was ordered with this referenceNumber and other fields`,
    })
  if (referred) return views.get(referred.svcCardId)
  const same = repeatMs > 0 && content ? byContent.get(content) : undefined
  return same === undefined ? undefined : views.get(same)
}

/** Later orders of the same batch see this one. */
export function keepOrder(
  { byReference, byContent, views }: EarlierOrders,
  { order: { referenceNumber }, digest }: Comparable,
  view: CardView,
): void {
  const { svcCardId } = view.card
  const content = digest && base64(digest)
  if (referenceNumber !== undefined) byReference.set(referenceNumber, { svcCardId, digest: content })
  else if (content) byContent.set(content, svcCardId)
  views.set(svcCardId, view)
}

const KEEP_USED = statement(
  'card_used_orders_keep',
  `insert into card_used_orders (partner_id, ciphertext_hash, svc_card_id, error, description, created_at)
   select k.* from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
     as k (partner_id, ciphertext_hash, svc_card_id, error, description, created_at)
   where not exists (
     select from cards c where c.partner_id = k.partner_id and c.ciphertext_hash = k.ciphertext_hash)
   order by k.partner_id, k.ciphertext_hash
   on conflict (partner_id, ciphertext_hash) do nothing`,
)

/** An encrypted order that is used up by a card of an earlier order, or by a rejection; none where it was plain. */
export const usedBy = (
  { tenantId, ciphertextHash }: Pick<Comparable, 'tenantId' | 'ciphertextHash'>,
  end: string | Failure,
  createdAt: Date,
): UsedOrder[] => {
  if (!ciphertextHash) return []
  const [svcCardId, error, description] =
    typeof end === 'string' ? [end, null, null] : [null, end.code, end.description]
  return [{ partnerId: tenantId, ciphertextHash, svcCardId, error, description, createdAt }]
}

/** Stores encrypted orders as used, each once. */
export function storeUsedOrders(tx: { write: BatchTx['write'] }, used: readonly UsedOrder[]): void {
  if (used.length > 0)
    tx.write(
      KEEP_USED,
      columns(
        used,
        (o) => o.partnerId,
        (o) => o.ciphertextHash,
        (o) => o.svcCardId,
        (o) => o.error,
        (o) => o.description,
        (o) => o.createdAt,
      ),
    )
}
