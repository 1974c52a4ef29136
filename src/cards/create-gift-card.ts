import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { invariant } from '../kernel/invariant.ts'
import { plainTimestamp } from '../kernel/time.ts'
import { account, accountId } from '../ledger/accounts.ts'
import { saveTransfers, type Transfer } from '../ledger/transfers.ts'
import { command, succeedWithCode } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import type { Card } from './card.ts'
import {
  type CreateGiftCard,
  type DrawnNumber,
  type Issued,
  type IssuingState,
  insertCards,
  lockIssuing,
  userKeys,
} from './card-issuing.ts'
import { drawCardNumber, maskCardNumber } from './card-number.ts'
import { CardRecord, toCardRecord, UNUSED } from './card-record.ts'
import { checkOrder, GiftCardOrder, holderOf, requireWithinLimit } from './gift-card-order.ts'
import { GIFT_CARD_SAMPLES } from './gift-card-samples.ts'
import { insertUsers, newUserId, type User } from './user.ts'

/** Numbers drawn for each card: the first that is free is taken, so that a collision costs no retry. */
const NUMBERS_DRAWN = 3

/** Spec §4.3. Issues a gift card, loaded from its card account (decisions C6 to C11). */
export const createGiftCard = command({
  id: 'createGiftCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard',
  tag: 'Cards',
  summary: 'Create gift card',
  description:
    'The request is sealed: a compact JWE of the order, to a key published at `/.well-known/jwks.json` or with the partner’s shared key. The card is loaded from its card account; when the account has too little, nothing happens. With `Accept: application/jose` the answer comes sealed.',
  developing: true,
  auth: 'partnerWithId',
  family: 'code',
  accepts: ['application/json', 'application/jose'],
  sealed: 'both',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  body: GiftCardOrder,
  samples: GIFT_CARD_SAMPLES,
  result: CardRecord,
  errors: [
    'company_not_found',
    'card_account_not_found',
    'user_not_found',
    'insufficient_funds',
    'load_over_limit',
  ],

  prepare({ clock, config, keyring, random }) {
    const loadMaxPaise = BigInt(config.CARD_LOAD_MAX_RUPEES) * 100n
    const draw = (cardId: string): DrawnNumber => {
      const number = drawCardNumber(config.CARD_BIN, random)
      return {
        seal: () => keyring.seal('card_number', Buffer.from(number), cardId),
        digest: keyring.digest('card_number_digest', number),
        masked: maskCardNumber(number),
      }
    }
    return ({ caller, body, sealHash }): CreateGiftCard => {
      const nowMs = clock.now()
      const card = newId('card', nowMs, random)
      return {
        tenantId: caller.tenantId,
        order: body,
        loadPaise: checkOrder(body, loadMaxPaise),
        loadMaxPaise,
        validityMonths: config.CARD_VALIDITY_MONTHS,
        numbers: Array.from({ length: NUMBERS_DRAWN }, () => draw(card)),
        sealHash: sealHash ?? null,
        ids: {
          card,
          token: newId('crd', nowMs, random),
          user: newUserId(nowMs, random),
          transfer: newId('trf', nowMs, random),
          event: newId('evt', nowMs, random),
        },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock: lockIssuing,
  decide,

  apply(state, { card, number, newUser, transfer, command: { sealHash } }) {
    const { debitAccountId, amountPaise } = transfer
    state.balances.set(debitAccountId, (state.balances.get(debitAccountId) ?? 0n) - amountPaise)
    state.takenNumbers.add(number.digest.toString('base64'))
    if (sealHash) state.usedSeals.add(`${card.partnerId} ${sealHash.toString('base64')}`)
    if (newUser) for (const key of userKeys(newUser)) state.users.set(key, newUser)
  },

  save(tx, decisions) {
    const opens = decisions.map(({ card }) => account('card', card.partnerId, card.svcCardId))
    const transfers = decisions.map(({ transfer }) => transfer)
    const events = decisions.map((issued) => ({
      eventId: issued.command.ids.event,
      tenantId: issued.card.partnerId,
      type: 'card.created' as const,
      objectId: issued.card.svcCardId,
      payload: issued.record,
      createdAt: issued.card.createdAt,
    }))
    const newUsers = decisions.flatMap(({ newUser }) => newUser ?? [])
    insertUsers(tx, newUsers)
    saveTransfers(tx, transfers, opens)
    insertCards(tx, decisions)
    saveEvents(tx, events)
  },

  answer: (issued) => ({ status: 200, body: succeedWithCode(issued.record) }),
})

/** Rules: who may get which card, and whether its account can pay for it. */
function decide(state: IssuingState, command: CreateGiftCard, now: Date): Issued {
  const { tenantId, order, sealHash } = command
  if (sealHash && state.usedSeals.has(`${tenantId} ${sealHash.toString('base64')}`)) fail('seal_replayed')
  if (!state.companies.has(`${tenantId} ${order.companyId}`)) fail('company_not_found')
  const cardAccount = state.accounts.get(`${tenantId} ${order.cardAccountId}`)
  if (cardAccount?.companyId !== order.companyId) return fail('card_account_not_found')
  const known = knownUser(state, command)
  const user = known ?? newUser(command)
  const loadPaise = command.loadPaise ?? cardAccount.denominationPaise
  requireWithinLimit(loadPaise, command.loadMaxPaise)
  const funding = accountId('card_funding', order.cardAccountId)
  if ((state.balances.get(funding) ?? 0n) < loadPaise) fail('insufficient_funds')
  const number = command.numbers.find(({ digest }) => !state.takenNumbers.has(digest.toString('base64')))
  invariant(number, 'every drawn card number is taken: widen the BIN range')
  const transfer: Transfer = {
    transferId: command.ids.transfer,
    tenantId,
    kind: 'card_load',
    debitAccountId: funding,
    creditAccountId: accountId('card', command.ids.card),
    amountPaise: loadPaise,
    objectId: command.ids.card,
    createdAt: now,
  }
  const card = newCard(command, { user, loadPaise, masked: number.masked, now })
  const view = { card, account: cardAccount, balancePaise: loadPaise, usage: UNUSED }
  return {
    card,
    account: cardAccount,
    number,
    user,
    newUser: known ? undefined : user,
    transfer,
    record: toCardRecord(view, command.timeZone),
    command,
  }
}

/** Decision C9: by id, else by mobile or e-mail within the company. */
function knownUser(state: IssuingState, { tenantId, order }: CreateGiftCard): User | undefined {
  if (order.userId !== undefined) {
    const user = state.users.get(`id ${tenantId} ${order.userId}`)
    return user?.companyId === order.companyId ? user : fail('user_not_found')
  }
  return (
    (order.mobile === undefined ? undefined : state.users.get(`mobile ${order.companyId} ${order.mobile}`)) ??
    (order.email === undefined
      ? undefined
      : state.users.get(`email ${order.companyId} ${order.email.toLowerCase()}`))
  )
}

function newUser({ tenantId, order, ids }: CreateGiftCard): User {
  const { email, mobile, title, firstName, middleName, lastName, gender, specialDate } = holderOf(order)
  const profile = { email, mobile, title, firstName, middleName, lastName, gender, specialDate }
  return {
    userId: ids.user,
    partnerId: tenantId,
    companyId: order.companyId,
    profile: Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined)),
  }
}

interface Facts {
  readonly user: User
  readonly loadPaise: bigint
  readonly masked: string
  readonly now: Date
}

/** Decision C10: a virtual card is usable at once, a physical one waits for its activation. */
function newCard(
  { tenantId, order, ids, timeZone, validityMonths }: CreateGiftCard,
  { user, loadPaise, masked, now }: Facts,
): Card {
  const physical = order.physicalCard ?? false
  // Counted from the month of the business zone, so that a card is never good for less than it should be.
  const [year, month] = plainTimestamp(now, timeZone).split('-').map(Number)
  const lastMonth = new Date(Date.UTC(year!, month! - 1 + validityMonths, 1))
  return {
    svcCardId: ids.card,
    partnerId: tenantId,
    companyId: order.companyId,
    cardAccountId: order.cardAccountId,
    userId: user.userId,
    maskedNumber: masked,
    token: ids.token,
    expiryMonth: lastMonth.getUTCMonth() + 1,
    expiryYear: lastMonth.getUTCFullYear(),
    status: physical ? 'AP' : 'UL',
    kycStatus: 'NOT_UPLOADED',
    physical,
    activated: !physical,
    // What the order leaves out is taken from what is known of the user.
    holder: { ...user.profile, ...holderOf(order) },
    physicalRequestedAt: physical ? now : null,
    loadPaise,
    loadTransferId: ids.transfer,
    channels: {
      pos: { allowed: true, allowedAdmin: true },
      atm: { allowed: false, allowedAdmin: false },
      online: { allowed: true, allowedAdmin: true },
    },
    blockCode: '',
    remarks: '',
    createdAt: now,
    modifiedAt: now,
  }
}
