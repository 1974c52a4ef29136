import { fail } from '@svc/contract/errors'

/** Spec section 3.2. */
export const CARD_STATUS_LABELS = {
  L: 'Locked',
  UL: 'UnLocked',
  BL: 'Blocked',
  AP: 'Activation InProgress',
} as const
export type CardStatus = keyof typeof CARD_STATUS_LABELS

/** Decision C10: locked and unlocked go both ways, blocked is final, a physical card leaves `AP` by its activation. */
const CARD_MOVES: Readonly<Record<CardStatus, readonly CardStatus[]>> = {
  AP: ['UL', 'BL'],
  UL: ['L', 'BL'],
  L: ['UL', 'BL'],
  BL: [],
}

/** Spec section 3.3; the labels are ours (decision C19). */
export const KYC_STATUS_LABELS = {
  NOT_UPLOADED: 'Not Uploaded',
  DRAFTED: 'Drafted',
  CREATED: 'Created',
  UPLOADED: 'Uploaded',
  PENDING: 'Pending',
  CKYC_PENDING: 'CKYC Pending',
  CKYC_IN_PROGRESS: 'CKYC In Progress',
  LIVENESS_PENDING: 'Liveness Pending',
  PAPER_KYC_PENDING: 'Paper KYC Pending',
  MIN_KYC_VERIFIED: 'Min KYC Verified',
  OSV_VERIFIED: 'OSV Verified',
  VERIFIED: 'Verified',
  FAILED: 'Failed',
  KYC_NOT_ALLOWED: 'KYC Not Allowed',
} as const
export type KycStatus = keyof typeof KYC_STATUS_LABELS

/** Decision C19: papers come in, checks run, a check passes or fails; failed ones may be tried again. */
const KYC_MOVES: Readonly<Record<KycStatus, readonly KycStatus[]>> = {
  NOT_UPLOADED: ['DRAFTED', 'CREATED', 'UPLOADED', 'MIN_KYC_VERIFIED', 'KYC_NOT_ALLOWED'],
  DRAFTED: ['CREATED', 'UPLOADED', 'KYC_NOT_ALLOWED'],
  CREATED: ['UPLOADED', 'MIN_KYC_VERIFIED', 'KYC_NOT_ALLOWED'],
  UPLOADED: ['PENDING', 'CKYC_PENDING', 'LIVENESS_PENDING', 'PAPER_KYC_PENDING', 'FAILED'],
  PENDING: ['VERIFIED', 'FAILED', 'CKYC_PENDING', 'LIVENESS_PENDING', 'PAPER_KYC_PENDING'],
  CKYC_PENDING: ['CKYC_IN_PROGRESS', 'FAILED'],
  CKYC_IN_PROGRESS: ['VERIFIED', 'FAILED', 'LIVENESS_PENDING'],
  LIVENESS_PENDING: ['VERIFIED', 'OSV_VERIFIED', 'FAILED'],
  PAPER_KYC_PENDING: ['OSV_VERIFIED', 'VERIFIED', 'FAILED'],
  MIN_KYC_VERIFIED: ['UPLOADED', 'CKYC_PENDING', 'KYC_NOT_ALLOWED'],
  OSV_VERIFIED: ['VERIFIED', 'FAILED'],
  VERIFIED: ['PENDING'],
  FAILED: ['UPLOADED', 'KYC_NOT_ALLOWED'],
  KYC_NOT_ALLOWED: ['NOT_UPLOADED'],
}

export const cardMoves = (from: CardStatus): readonly CardStatus[] => CARD_MOVES[from]
export const kycMoves = (from: KycStatus): readonly KycStatus[] => KYC_MOVES[from]

/** Throws `invalid_transition`, naming the legal moves, unless the move is one of them. */
export function requireMove<S extends string>(from: S, to: S, moves: readonly S[]): void {
  if (moves.includes(to)) return
  const legal = moves.length > 0 ? `from there it can go to ${moves.join(', ')}` : 'that state is final'
  fail('invalid_transition', { description: `The card is ${from} and cannot become ${to}; ${legal}` })
}
