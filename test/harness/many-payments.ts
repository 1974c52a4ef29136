import type pg from 'pg'

/** Puts so many accepted payments of 100 rupees on a code by SQL, one a minute back from now. Superuser's work. */
export const insertManyPayments = (
  admin: pg.Client,
  merchantId: string,
  code: { readonly qrCodeId: string; readonly tr: string },
  count: number,
) =>
  admin.query(
    `insert into payments (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, created_at)
     select 'pay_' || lpad(($4::int - n)::text, 26, '0'), $1, $2, 'MANY' || n, $3, 10000, 'p•••@bank', 'ACCEPTED',
       now() - n * interval '1 minute' from generate_series(1, $4::int) n`,
    [merchantId, code.qrCodeId, code.tr, count],
  )
