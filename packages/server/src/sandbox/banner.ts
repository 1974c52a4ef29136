import { dirname } from 'node:path'
import { styleText } from 'node:util'
import type { SandboxFile } from './sandbox-file.ts'

interface Shown {
  readonly baseUrl: string
  readonly database: string
  readonly mode: string
  /** Whether the console is served. */
  readonly hasConsole: boolean
  /** Whether the portal is served. */
  readonly hasPortal: boolean
  readonly demo: SandboxFile | undefined
  readonly file: string
  readonly tookMs: number
}

/** What a person sees at a terminal once the service is up: where it is, who may call, and a first call that works. */
export function banner({
  baseUrl,
  database,
  mode,
  hasConsole,
  hasPortal,
  demo,
  file,
  tookMs,
}: Shown): string {
  const bold = (text: string) => styleText('bold', text)
  const dim = (text: string) => styleText('dim', text)
  const cyan = (text: string) => styleText('cyan', text)
  const row = (name: string, value: string) => `  ${dim(name.padEnd(11))} ${value}`
  const lines = [
    '',
    `  ${bold(cyan('svc'))} ${bold('is up')} ${dim(`in ${mode} mode, after ${(tookMs / 1_000).toFixed(1)} s`)}`,
    '',
    row('Service', cyan(baseUrl)),
    row('Reference', cyan(`${baseUrl}/docs`)),
    ...(hasConsole ? [row('Console', cyan(`${baseUrl}/console`))] : []),
    ...(hasPortal ? [row('Portal', cyan(`${baseUrl}/portal`))] : []),
    row('Database', database),
  ]
  if (demo) {
    lines.push(
      row('Merchant', `${demo.merchant.merchantId}  ${dim(demo.merchant.vpa)}`),
      row('API key', demo.merchant.apiKey),
      row('Merchant 2', `${demo.otherMerchant.merchantId}  ${dim(demo.otherMerchant.vpa)}`),
      row('QR code', demo.qrCodeId),
      row('Credentials', file),
      '',
      `  ${bold('A first token:')}`,
      '',
      `  curl -s -X POST ${baseUrl}/api/v0/merchant/token -H 'API-Key: ${demo.merchant.apiKey}'`,
      '',
      `  ${bold('Pay the demo QR code:')}`,
      '',
      `  curl -s ${baseUrl}/sandbox/upi/pay -H 'Content-Type: application/json' -d '{"qrCodeId":"${demo.qrCodeId}","amount":249.50}'`,
    )
  }
  return [...lines, '', `  ${dim(`Press Ctrl-C to stop. Data is kept in ${dirname(file)}.`)}`, ''].join('\n')
}
