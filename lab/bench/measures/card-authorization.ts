import { signNotice } from '@svc/server/http/notice-signature'
import { insertManyCards } from '../../../test/harness/many-cards.ts'
import { type BenchPartner, dropUnnumbered } from '../bed.ts'
import { contest, httpContender } from '../contest.ts'
import { closedLoop, type Load, requestBytes } from '../load.ts'
import { pgbenchContender, script } from '../pgbench.ts'
import type { Measure, Setting } from './measure.ts'

const PARTNERS = 8
/** So many that transactions seldom wait for each other's cards, and a card never has more than a few holds. */
const CARDS_EACH = 5_000
/** Numbers of these cards: above all that other measures insert. */
const FIRST = 2_000_000_001
/** Messages are signed beforehand. */
const MESSAGES_PER_SECOND = 6_000

const tokenOf = (card: number): string => `crd_${String(card).padStart(26, '0')}`

let sent = 0

/** Authorisations of ten paise, one card after the other: each message is a new one. */
function authorizations({ bed }: Setting, cards: number, seconds: number): Load {
  const requests = Array.from({ length: Math.ceil(seconds) * MESSAGES_PER_SECOND }, () => {
    const n = ++sent
    const message = {
      token: tokenOf(FIRST + (n % cards)),
      acquirerId: '400123',
      stan: String(n % 1_000_000).padStart(6, '0'),
      transmissionTime: new Date(Date.now() - Math.floor(n / 1_000_000)).toISOString(),
      amount: 0.1,
      channel: 'pos',
      merchantName: 'Corner Shop',
    }
    const body = Buffer.from(JSON.stringify(message))
    const headers = {
      'content-type': 'application/json',
      'x-rail-signature': signNotice(body, bed.railKey, Date.now()),
    }
    return requestBytes('POST', '/rails/cards/authorizations', headers, body)
  })
  return { port: bed.service.port, next: (n) => requests[n] }
}

/** Cards of several partners: as many of each, one partner after the other. */
async function insertCards({ bed }: Setting): Promise<BenchPartner[]> {
  const partners: BenchPartner[] = []
  for (let i = 0; i < PARTNERS; i++) {
    const partner = await bed.newPartner('incentive', 1)
    partners.push(partner)
    const first = FIRST + i * CARDS_EACH
    const account = { ...partner, cardAccountId: partner.cardAccountIds[0]! }
    await insertManyCards(bed.admin, account, first, first + CARDS_EACH - 1)
  }
  return partners
}

export const cardAuthorization: Measure = {
  id: 'card-authorization',
  title: 'Authorise a card payment (durable, over HTTP, signed message)',
  async run(setting) {
    const { bed } = setting
    const partners = await insertCards(setting)
    const cards = PARTNERS * CARDS_EACH
    // Of what the service stores, pgbench's scripts take the size of its texts.
    await closedLoop(authorizations(setting, cards, 1), 8, 0.5)
    await bed.admin.query('vacuum analyze')
    const { rows } = await bed.admin.query<{ response: string }>(
      `select response::jsonb::text as response from card_messages where response_code = '00' limit 1`,
    )
    const words = {
      first: String(FIRST),
      last: String(FIRST + cards - 1),
      cardsEach: String(CARDS_EACH),
      partners: `{${partners.map(({ partnerId }) => partnerId).join(',')}}`,
      // pgbench takes the minutes of a time for one of its variables.
      record: rows[0]!.response.replace(/:(?=\w)/g, '-'),
    }
    const contenders = [
      httpContender('svc', [bed.service.pid, bed.postmasterPid], () =>
        authorizations(setting, cards, setting.seconds),
      ),
      pgbenchContender('pgbench, one transaction a request', bed, await script('authorize-card', words)),
      pgbenchContender('pgbench, 64 in a transaction', bed, await script('authorize-card-batch', words), 64),
    ]
    const prepare = async () => {
      await dropUnnumbered(bed)
      // Planned for what they contain: the first phases fill them from nothing.
      await bed.admin.query('vacuum analyze card_authorizations, card_messages')
      await bed.admin.query('checkpoint')
    }
    return {
      figures: await contest({ ...setting, contenders, prepare }),
      comparisons: [
        { of: 'svc', to: 'pgbench, one transaction a request', aim: 2 },
        { of: 'svc', to: 'pgbench, 64 in a transaction' },
      ],
    }
  },
}
