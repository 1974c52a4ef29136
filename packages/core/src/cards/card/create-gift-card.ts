import { fail } from '@svc/contract/errors'
import type { Paise } from '@svc/kernel/money'
import type { Writes } from '@svc/platform/db/database'
import { saveEvents } from '@svc/platform/outbox'
import { account, accountId } from '../../ledger/accounts.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { newUser, profileOf, type User, users } from '../../tenants/user.ts'
import { lowBalanceEvent } from '../account/low-balance.ts'
import { expiryOf, firstDue, NOT_ENDED } from '../end/card-end.ts'
import { type Card, cards } from './card.ts'
import {
  addUser,
  type CreateGiftCard,
  type Issued,
  type IssuingState,
  lockIssuing,
  type NewCard,
  type PreparedGiftCard,
} from './card-issuing.ts'
import { cardFormOf, toCardRecord } from './card-record.ts'
import { NOT_RELOADED, UNUSED } from './card-usage.ts'
import { freeNumber, lastMonthOf, numberDrawer, takeNumber } from './draw-number.ts'
import { keepOrder, orderDigest, repeatedOrder, storeUsedOrders, usedBy } from './earlier-orders.ts'
import type { GiftCardOrder } from './gift-card-order.ts'
import { loadTermsOf, requireFirstLoad } from './load-limits.ts'

/** Issues a gift card, loaded from its card account (spec section 4.3, decisions C6 to C11). */
export const createGiftCard = moneyCommand({
  name: 'createGiftCard',

  approval: {
    kinds: ['card_load'],
    isOfTenants: true,
    // An order has data of its holder, which wait nowhere.
    instead:
      'With the cards that you issued for this partner within 24 hours it is above the limit for one person: the partner issues it itself',
    moves: ({ created, record }) =>
      created && {
        kind: 'card_load',
        amountPaise: created.view.balancePaise,
        reference: record.svcCardId,
        facts: {},
        reason: 'gift card',
        journalId: journalOf(created.transfer).journalId,
      },
    failures: [],
  },

  prepare({ clock, config, keyring, newId, random }) {
    const loadTerms = loadTermsOf(config)
    const draw = numberDrawer({ config, keyring, random })
    return (args: CreateGiftCard): PreparedGiftCard => {
      const card = newId('card')
      const hasReference = args.order.referenceNumber !== undefined
      const repeatMs = args.hasNoKey && !hasReference ? config.CARD_REPEAT_SECONDS * 1_000 : 0
      return {
        ...args,
        tenantId: args.partnerId,
        loadTerms,
        validityMonths: config.CARD_VALIDITY_MONTHS,
        numbers: draw(card),
        ids: {
          card,
          token: newId('crd'),
          user: newId('usr'),
          transfer: newId('trf'),
          event: newId('evt'),
          low: newId('evt'),
        },
        digest: hasReference || repeatMs > 0 ? orderDigest(args.order) : null,
        repeatMs,
        clockOffsetMs: clock.of(args.partnerId).offsetMs(),
        ...cardFormOf(config),
      }
    }
  },

  lock: lockIssuing,
  decide,

  apply(state, { created, command }) {
    if (!created) return
    const { number, newUser, transfer, view } = created
    const { debitAccountId, amountPaise } = transfer
    state.balances.set(debitAccountId, (state.balances.get(debitAccountId) ?? 0n) - amountPaise)
    takeNumber(state.takenNumbers, number)
    if (command.ciphertextHash) state.usedJwes.add(command.ciphertextHash.toString('base64'))
    keepOrder(state.earlier, command, view)
    if (newUser) addUser(state.users, newUser)
  },

  refusals: {
    // Not for the lack of encryption, which leaves nothing to repeat, and not for what may end by itself.
    isFinal: ({ earlier }, { ciphertextHash }, { status, code }) =>
      ciphertextHash !== undefined &&
      !earlier.used.has(ciphertextHash.toString('base64')) &&
      status < 500 &&
      status !== 429 &&
      code !== 'encrypted_request_replayed',
    useUp({ usedJwes }, { ciphertextHash }) {
      if (ciphertextHash) usedJwes.add(ciphertextHash.toString('base64'))
    },
    save: (tx, refusals) =>
      storeUsedOrders(
        tx,
        refusals.flatMap(({ command, failure, now }) => usedBy(command, failure, now)),
      ),
  },

  save(tx, decisions) {
    saveCards(
      tx,
      decisions.flatMap(({ created, ...issued }) => (created ? [{ ...issued, ...created }] : [])),
    )
    storeUsedOrders(
      tx,
      decisions.flatMap(({ repeats, command }) =>
        repeats ? usedBy(command, repeats.svcCardId, repeats.at) : [],
      ),
    )
  },
})

function saveCards(tx: Writes, issued: readonly (Omit<Issued, 'created'> & NewCard)[]): void {
  const [first] = issued
  if (!first) return
  users.insert(
    tx,
    issued.flatMap(({ newUser }) => newUser ?? []),
  )
  saveJournals(
    tx,
    first.command.timeZone,
    issued.map(({ transfer }) => journalOf(transfer)),
    issued.map(({ view: { card } }) => account('card', card.partnerId, card.svcCardId)),
  )
  cards.insert(
    tx,
    issued.map(({ view: { card }, number, command: { ciphertextHash = null, digest } }) => ({
      ...card,
      numberEncrypted: number.encrypted(),
      numberDigest: number.digest,
      ciphertextHash,
      orderDigest: digest,
    })),
  )
  saveEvents(
    tx,
    issued.flatMap(({ view: { card }, record, low, command: { ids } }) => [
      {
        eventId: ids.event,
        tenantId: card.partnerId,
        type: 'card.created' as const,
        objectId: card.svcCardId,
        payload: record,
        createdAt: card.createdAt,
      },
      ...(low ? [low] : []),
    ]),
  )
}

/** Rules: who may get which card, and whether its account can pay for it. */
function decide(state: IssuingState, command: PreparedGiftCard, now: Date): Issued {
  const { tenantId, order, ciphertextHash } = command
  if (ciphertextHash && state.usedJwes.has(ciphertextHash.toString('base64')))
    fail('encrypted_request_replayed')
  const repeated = repeatedOrder(state.earlier, command)
  if (repeated)
    return {
      created: undefined,
      repeats: { svcCardId: repeated.card.svcCardId, at: now },
      record: toCardRecord(repeated, command),
      command,
    }
  if (!state.companies.has(order.companyId)) fail('company_not_found')
  const cardAccount = state.accounts.get(order.cardAccountId)
  if (cardAccount?.companyId !== order.companyId) return fail('card_account_not_found')
  requireFirstLoad(command.loadTerms, cardAccount.accountType, order.loadPaise)
  const known = knownUser(state, order)
  const user = known ?? userOf(command, now)
  const loadPaise = order.loadPaise ?? cardAccount.denominationPaise
  requireFirstLoad(command.loadTerms, cardAccount.accountType, loadPaise)
  const funding = accountId('card_funding', order.cardAccountId)
  if ((state.balances.get(funding) ?? 0n) < loadPaise) fail('insufficient_funds')
  const number = freeNumber(command.numbers, state.takenNumbers)
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
  const view = {
    card,
    account: cardAccount,
    isUserErased: false,
    balancePaise: loadPaise,
    heldPaise: 0n,
    usage: UNUSED,
    loads: NOT_RELOADED,
  }
  return {
    created: {
      view,
      number,
      newUser: known ? undefined : user,
      transfer,
      low: lowBalanceEvent(cardAccount, state.balances.get(funding) ?? 0n, transfer, command),
    },
    repeats: undefined,
    record: toCardRecord(view, command),
    command,
  }
}

/** Decision C9: by id, else by mobile or e-mail within the company. */
function knownUser(
  { users }: IssuingState,
  { companyId, userId, holder: { mobile, email } }: GiftCardOrder,
): User | undefined {
  if (userId !== undefined) {
    const user = users.byId.get(userId)
    if (user?.companyId !== companyId) return fail('user_not_found')
    return user.erasedAt ? fail('user_erased') : user
  }
  return (
    (mobile === undefined ? undefined : users.byMobile.get(companyId, mobile)) ??
    (email === undefined ? undefined : users.byEmail.get(companyId, email.toLowerCase()))
  )
}

function userOf({ partnerId, order: { companyId, holder }, ids }: PreparedGiftCard, createdAt: Date): User {
  return newUser({ userId: ids.user, partnerId, companyId, profile: holder, createdAt })
}

interface Facts {
  readonly user: User
  readonly loadPaise: Paise
  readonly masked: string
  readonly now: Date
}

/** Decision C10: a virtual card is usable at once, a physical one waits for its activation. */
function newCard(
  { partnerId, order, ids, timeZone, validityMonths }: PreparedGiftCard,
  { user, loadPaise, masked, now }: Facts,
): Card {
  const { physical } = order
  const expiry = lastMonthOf(now, timeZone, validityMonths)
  return {
    svcCardId: ids.card,
    partnerId,
    companyId: order.companyId,
    cardAccountId: order.cardAccountId,
    userId: user.userId,
    maskedNumber: masked,
    token: ids.token,
    ...expiry,
    status: physical ? 'AP' : 'UL',
    kycStatus: 'NOT_UPLOADED',
    physical,
    activated: !physical,
    // What the order leaves out is taken from what is known of the user.
    holder: { ...profileOf(user), ...order.holder },
    physicalRequestedAt: physical ? now : null,
    loadPaise,
    loadTransferId: ids.transfer,
    posAllowed: true,
    posAllowedAdmin: true,
    atmAllowed: false,
    atmAllowedAdmin: false,
    onlineAllowed: true,
    onlineAllowedAdmin: true,
    blockCode: '',
    remarks: '',
    ...NOT_ENDED,
    dueAt: firstDue(expiryOf(expiry, timeZone)),
    replaces: null,
    referenceNumber: order.referenceNumber ?? null,
    createdAt: now,
    modifiedAt: now,
  }
}
