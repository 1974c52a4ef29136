import { SEQUENCE_MAX, SEQUENCE_PATTERN } from '@svc/core/webhooks/event'
import { balanceToWire, checkpointOf, originOf, readFeedHead } from '@svc/core/webhooks/feed-head'
import {
  type FeedLeaf,
  type PersonalDigest,
  proveConsistency,
  proveInclusion,
  readLeaves,
} from '@svc/core/webhooks/feed-proofs'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { preferredType } from '../http/accept.ts'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, readLimit } from '../http/page.ts'
import { ofEvents } from './list-events.ts'

const TEXT = 'text/plain'

const Hash = Type.String({ description: 'SHA-256, base64' })
const Hashes = Type.Array(Hash)

/** A number of events, which comes as text in a query. */
const sizeInQuery = (description: string) =>
  Type.String({
    pattern: SEQUENCE_PATTERN,
    'x-rule': 'must be a number of events',
    'x-documented': { type: 'integer', minimum: 0, maximum: SEQUENCE_MAX },
    description,
  })

const Personal = Type.Object(
  {
    fields: Type.Array(Type.String(), { description: 'The fields of `data` that erasure may empty' }),
    digest: Type.String({ description: 'SHA-256 of the salt and the JSON of these fields, in hex' }),
    salt: Type.Optional(Type.String({ description: 'In hex; absent once the data was erased' })),
  },
  { additionalProperties: false },
)

const Leaf = Type.Object(
  {
    sequence: Type.Integer(),
    hash: Hash,
    personal: Type.Optional(Personal),
  },
  { title: 'EventLeaf', additionalProperties: false },
)

const personalToWire = ({ digest, fields, salt }: PersonalDigest) => ({
  fields,
  digest: digest.toString('hex'),
  ...(salt && { salt: salt.toString('hex') }),
})
const leafToWire = ({ hash, personal, sequence }: FeedLeaf) => ({
  sequence,
  hash: hash.toString('base64'),
  ...(personal && { personal: personalToWire(personal) }),
})
const base64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** The signed head of the tenant's tree (decision E7). */
export const getFeedHead = query({
  ...ofEvents('events:read'),
  id: 'getFeedHead',
  method: 'GET',
  path: '/api/v0/events/head',
  summary: 'Get the signed head of the feed',
  description:
    'What the Merkle tree of your feed (RFC 6962) is now, and the balances of your accounts by kind, signed. With `Accept: text/plain` the response is `checkpoint` alone. The keys are at `/.well-known/jwks.json`. Keep the head: later ones must contain the same events. An event is in the tree about a second after the feed shows it.',
  result: Type.Object(
    {
      origin: Type.String({ description: 'Names the log: `svc/` and the tenant’s id' }),
      size: Type.Integer({ description: 'Events in the tree: those numbered 1 to `size`' }),
      root: Hash,
      createdOn: Type.String({ description: 'RFC 3339' }),
      balances: Type.Array(
        Type.Object(
          {
            account: Type.String({ description: 'A kind of account, as `payable` or `card_funding`' }),
            unit: Type.Enum(['INR', 'COIN']),
            balance: Type.String({ description: 'Sum over all accounts of this kind' }),
            booked: Type.String({
              description: 'What the entries of these accounts add up to; another amount means tampering',
            }),
            entries: Type.Integer({ description: 'How many entries there are; never fewer than before' }),
          },
          { additionalProperties: false },
        ),
      ),
      checkpoint: Type.String({ description: 'All of it as a signed text (C2SP tlog-checkpoint)' }),
    },
    { title: 'EventFeedHead', additionalProperties: false },
  ),
  alsoProduces: TEXT,
  errors: [],

  mount({ config, database, keyring }) {
    return async ({ caller: { tenantId }, headers }) => {
      const head = await database.write([tenantId], (tx) => readFeedHead(tx, tenantId))
      const checkpoint = checkpointOf(head, keyring)
      if (preferredType(headers, ['application/json', TEXT]) === TEXT)
        return { headers: { 'content-type': `${TEXT}; charset=utf-8` }, body: checkpoint }
      return {
        body: succeed({
          origin: originOf(tenantId),
          size: head.size,
          root: head.root.toString('base64'),
          createdOn: rfc3339(head.at, config.BUSINESS_TIME_ZONE),
          balances: head.balances.map(balanceToWire),
          checkpoint,
        }),
      }
    }
  },
})

/** All leaves, also of events that are no longer kept: the root is computed of them. */
export const listEventLeaves = query({
  ...ofEvents('events:read'),
  id: 'listEventLeaves',
  method: 'GET',
  path: '/api/v0/events/leaves',
  summary: 'List the leaves of the feed’s tree',
  description:
    'The hash of each event in the tree, in order, also of those that are no longer kept. An event’s own hash is that of its number, id, type, time and data, as the guide shows; what erasure may empty is in `personal`, as a digest with a salt.',
  query: Type.Object(
    {
      after: Type.Optional(sizeInQuery('The `next` of the page before; by default 0')),
      limit: PAGE_IN_QUERY.limit,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(
    {
      recordsCount: Type.Integer({ description: 'Leaves in this page' }),
      data: Type.Array(Leaf),
      next: Type.Integer({ description: 'Pass it back as `after`' }),
      more: Type.Boolean({ description: 'Whether the tree has more leaves by now' }),
      keptAfter: Type.Integer({ description: 'Number of the last event that is no longer kept, 0 for none' }),
    },
    { additionalProperties: false },
  ),
  errors: ['events_ahead'],

  mount({ database }) {
    return async ({ caller: { tenantId }, query: { after, limit } }) => {
      const { leaves, size, keptAfter } = await database.read([tenantId], (tx) =>
        readLeaves(tx, tenantId, Number(after ?? 0), readLimit(limit)),
      )
      const next = leaves.at(-1)?.sequence ?? Number(after ?? 0)
      const data = leaves.map(leafToWire)
      return { body: succeed({ recordsCount: data.length, data, next, more: next < size, keptAfter }) }
    }
  },
})

export const getEventProof = query({
  ...ofEvents('events:read'),
  id: 'getEventProof',
  method: 'GET',
  path: '/api/v0/events/:eventId/proof',
  summary: 'Prove that an event is in the feed',
  description:
    'The inclusion proof of RFC 6962 section 2.1.1: the hashes that lead from the event’s leaf to the root of a head.',
  params: Type.Object({
    eventId: Type.String({ description: 'The event, by its id' }),
  }),
  query: Type.Object(
    { size: Type.Optional(sizeInQuery('The size of the head that you have; by default the newest')) },
    { additionalProperties: false },
  ),
  result: Type.Object(
    {
      eventId: Type.String(),
      sequence: Type.Integer({ description: 'Its leaf is the one with this number, counted from 1' }),
      hash: Hash,
      personal: Type.Optional(Personal),
      size: Type.Integer(),
      root: Hash,
      hashes: Hashes,
    },
    { title: 'EventProof', additionalProperties: false },
  ),
  errors: ['event_not_found', 'events_ahead'],

  mount({ database }) {
    return async ({ caller: { tenantId }, params: { eventId }, query: { size: wanted } }) => {
      const { leaf, size, root, hashes } = await database.read([tenantId], (tx) =>
        proveInclusion(tx, tenantId, eventId, wanted === undefined ? undefined : Number(wanted)),
      )
      const proof = { size, root: root.toString('base64'), hashes: base64(hashes) }
      return { body: succeed({ eventId, ...leafToWire(leaf), ...proof }) }
    }
  },
})

export const getFeedConsistency = query({
  ...ofEvents('events:read'),
  id: 'getFeedConsistency',
  method: 'GET',
  path: '/api/v0/events/consistency',
  summary: 'Prove that the feed has only grown',
  description:
    'The consistency proof of RFC 6962 section 2.1.2: that the first `from` events of the tree with `to` events are those of the tree that you remember.',
  query: Type.Object(
    {
      from: sizeInQuery('The size of the head that you remember'),
      to: Type.Optional(sizeInQuery('The size of a later head; by default the newest')),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(
    { from: Type.Integer(), to: Type.Integer(), hashes: Hashes },
    { title: 'EventFeedConsistency', additionalProperties: false },
  ),
  errors: ['events_ahead'],

  mount({ database }) {
    return async ({ caller: { tenantId }, query: { from, to } }) => {
      const proof = await database.read([tenantId], (tx) =>
        proveConsistency(tx, tenantId, Number(from), to === undefined ? undefined : Number(to)),
      )
      return { body: succeed({ ...proof, hashes: base64(proof.hashes) }) }
    }
  },
})
