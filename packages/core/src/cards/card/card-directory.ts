import type { Keyring } from '@svc/platform/crypto/keyring'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Homes, type Origin } from '../../tenants/homes.ts'
import type { CardMessage } from '../rail/card-message.ts'
import type { CardKey } from './card.ts'

interface DirectoryRow extends CardKey {
  readonly token: string
  readonly digest: string
}

const CARDS = statement<DirectoryRow>(
  'directory_cards',
  `select token, encode(number_digest, 'base64') as digest, partner_id as "partnerId", svc_card_id as "svcCardId"
   from directory_cards($1, (select array_agg(decode(d, 'base64')) from unnest($2::text[]) d))`,
)

/** Finds the card that a message of the network names, by token or number, and its partner. */
export function cardDirectory(
  database: Database,
  keyring: Keyring,
): (card: CardMessage['card'], from: Origin) => Promise<CardKey | undefined> {
  const byToken = new BatchedLookup<DirectoryRow>(
    (keys) => database.directory(CARDS, [keys.map(({ id }) => id), []]),
    ({ token }) => ({ tenantId: '', id: token }),
  )
  const byNumber = new BatchedLookup<DirectoryRow>(
    (keys) => database.directory(CARDS, [[], keys.map(({ id }) => id)]),
    ({ digest }) => ({ tenantId: '', id: digest }),
  )
  const homes = new Homes(database)
  return async ({ token, cardNumber }, from) => {
    const digest = cardNumber === null ? null : keyring.digest('card_number_digest', cardNumber)
    const [named, numbered] = await Promise.all([
      token === null ? undefined : byToken.get('', token),
      digest === null ? undefined : byNumber.get('', digest.toString('base64')),
    ])
    if (token !== null && !named) await homes.requireNotMoved('card_token', token, from)
    if (digest !== null && !numbered) await homes.requireNotMoved('card_number', digest.toString('hex'), from)
    if (token === null) return numbered
    // A message that names two cards names none.
    return digest === null || named?.svcCardId === numbered?.svcCardId ? named : undefined
  }
}
