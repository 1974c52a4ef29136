import { CREDENTIALS_PATH, type SandboxFile } from './sandbox-file.ts'

const WAIT_MS = 1_000

/** Whether a service with the demo tenants of this file responds at its address. */
export async function isServed({ baseUrl, merchant }: SandboxFile): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}${CREDENTIALS_PATH}`, { signal: AbortSignal.timeout(WAIT_MS) })
    const found = (await response.json()) as Partial<SandboxFile>
    return found.merchant?.merchantId === merchant.merchantId
  } catch {
    return false
  }
}
