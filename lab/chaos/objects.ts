import type { Model } from './history.ts'

/** What callers did to a QR code and were told. A second cancel, and a repeated credit, answer as the first did. */
export type QrCodeOp =
  | { readonly kind: 'cancel'; readonly modifiedOn: string }
  | { readonly kind: 'credit'; readonly utr: string; readonly outcome: 'ACCEPTED' | RefusalReason }
  | { readonly kind: 'read'; readonly status: string }
type RefusalReason = 'qr_code_cancelled' | 'qr_code_used' | 'other'

interface QrCodeState {
  readonly status: 'ACTIVE' | 'CANCELLED'
  readonly used: boolean
  /** Of the cancel, once one was answered. */
  readonly modifiedOn: string
}

/** Decisions Q2 to Q5: after a cancel nothing is accepted; a single-use code accepts once and is then cancelled. */
export const qrCodeModel = (multipleUse: boolean): Model<QrCodeState, QrCodeOp> => ({
  initial: { status: 'ACTIVE', used: false, modifiedOn: '' },
  step(state, op) {
    if (op.kind === 'read') return op.status === state.status ? state : undefined
    if (op.kind === 'cancel') {
      if (state.status === 'ACTIVE')
        return { ...state, status: 'CANCELLED' as const, modifiedOn: op.modifiedOn }
      const same = state.modifiedOn === '' || state.modifiedOn === op.modifiedOn
      return same ? { ...state, modifiedOn: op.modifiedOn } : undefined
    }
    if (op.outcome === 'ACCEPTED') {
      if (state.status === 'CANCELLED') return undefined
      return multipleUse ? state : { ...state, status: 'CANCELLED' as const, used: true }
    }
    if (op.outcome === 'qr_code_used') return !multipleUse && state.used ? state : undefined
    if (op.outcome === 'qr_code_cancelled')
      return state.status === 'CANCELLED' && !state.used ? state : undefined
    return undefined
  },
  key: ({ status, used, modifiedOn }) => `${status} ${used} ${modifiedOn}`,
})

/** A user's coins. `balance` is the one that the answer told, right after the operation. */
export type WalletOp =
  | { readonly kind: 'add' | 'take'; readonly coins: number; readonly balance: number }
  | { readonly kind: 'too little'; readonly coins: number }
  | { readonly kind: 'read'; readonly balance: number }

export const walletModel: Model<number, WalletOp> = {
  initial: 0,
  step(balance, op) {
    if (op.kind === 'read') return op.balance === balance ? balance : undefined
    if (op.kind === 'too little') return balance < op.coins ? balance : undefined
    const after = op.kind === 'add' ? balance + op.coins : balance - op.coins
    return after >= 0 && op.balance === after ? after : undefined
  },
  key: String,
}

/** Whether a card is locked: what was set last is what is read. */
export interface CardOp {
  readonly kind: 'set' | 'read'
  readonly status: string
}

export const cardModel: Model<string, CardOp> = {
  initial: 'UL',
  step: (status, op) => (op.kind === 'set' || op.status === status ? op.status : undefined),
  key: (status) => status,
}
