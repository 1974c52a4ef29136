import type { Examples } from '../http/worked-examples.ts'
import type { SandboxFile } from './demo.ts'

export type Request = Examples[string][number]['request']

/** Records that the examples name and that no demo tenant has from the start, each created once. */
export interface Props {
  readonly paymentId: string
  readonly refundId: string
  readonly disputedUtr: string
  readonly disputeId: string
  readonly lostDisputeId: string
  readonly payoutId: string
  readonly cancelledCodeId: string
  readonly svcCardId: string
  readonly cardToken: string
  readonly physicalCardId: string
  readonly lockedCardId: string
  readonly lostCardId: string
  readonly unwantedCardId: string
  readonly leavingUserId: string
  readonly virtualAccount: string
  readonly jobId: string
  readonly endpointId: string
  readonly deletedEndpointId: string
  readonly eventId: string
  readonly otherConfigId: string
  readonly allocationId: string
  readonly voidedAllocationId: string
}

/** The live value of each kind of id and secret, by its prefix in the recorded examples. */
export function valuesOf(demo: SandboxFile, props: Props): Readonly<Record<string, string>> {
  const { incentivePartner: partner, merchant } = demo
  return {
    svc_test_: merchant.apiKey,
    svc_secret_: partner.clientSecret,
    cli_: partner.clientId,
    mak_: merchant.accessKey,
    mer_: merchant.merchantId,
    par_: partner.partnerId,
    com_: partner.companyId,
    acc_: partner.cardAccountId,
    usr_: demo.coinUserId,
    ccf_: demo.coinConfigId,
    qr_: demo.qrCodeId,
    card_: props.svcCardId,
    crd_: props.cardToken,
    blk_: props.jobId,
    whe_: props.endpointId,
    evt_: props.eventId,
  }
}

/** A recorded request with the values of this sandbox, and with what the operation has of its own. */
export function live(
  recorded: Request,
  values: Readonly<Record<string, string>>,
  own: Request = {},
): Request {
  const text = JSON.stringify(recorded).replace(
    /\b(svc_test_|svc_secret_|[a-z]{2,4}_)[0-9a-z_]{20,}/g,
    (id, prefix: string) => values[prefix] ?? id,
  )
  const request = JSON.parse(text) as Request
  return { ...request, ...own, headers: { ...request.headers, ...own.headers } }
}
