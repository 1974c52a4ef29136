import { qrPng } from '@svc/upi-qr/qr-image'
import { toBuffer } from 'qrcode'
import type { Contender } from '../contest.ts'

const text = (n: number): string =>
  `upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC${String(n).padStart(26, '0')}&tn=Table%2012&mc=5411&mode=01&cu=INR`

/** Nothing but the images of codes like those that the service makes, one after the other. */
export const qrEncoder = (which: 'ours' | 'library', name: string): Contender => ({
  name,
  unit: 'images',
  async run({ seconds }) {
    const startMs = performance.now()
    let done = 0
    while (performance.now() < startMs + seconds * 1_000) {
      if (which === 'ours') qrPng(text(done++))
      else await toBuffer(text(done++))
    }
    return { done, seconds: (performance.now() - startMs) / 1_000 }
  },
})
