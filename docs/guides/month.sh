#!/usr/bin/env bash
# A month of the demo merchant, from its payments to the signed close; run again, the next one. Beside `npm start`:
# bash docs/guides/month.sh. In a sandbox of its own: node bin/svc.mjs sandbox exec -- bash docs/guides/month.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
. docs/guides/call.sh otherMerchant
# Who issues the invoices: settings, of the service too where they are for good.
export SUPPLIER_NAME='Example Payments Private Limited' SUPPLIER_ADDRESS='1 Marine Drive, Mumbai' SUPPLIER_GSTIN=27AAGCB7383J1Z8

step() { printf '\n== %s\n' "$*"; }
# from EXPRESSION: of `_`, the JSON on standard input.
from() { node -p "const _ = JSON.parse(fs.readFileSync(0)); $1"; }
plus() { node -p "($1 + $2).toFixed(2)"; }

NOW=$(call /sandbox/tenants/house/clock | of payload.now)
DAY=${NOW:0:10}
BEFORE=$(node -p "new Date(Date.parse('$DAY') - 86400000).toISOString().slice(0, 10)")
LAST=$(node -p "new Date(Date.UTC(${DAY:0:4}, ${DAY:5:2}, 0)).toISOString().slice(0, 10)")
NEXT=$(node -p "new Date(Date.parse('$LAST') + 86400000).toISOString().slice(0, 10)")

step "The merchant is charged 2 %, has a bank account and is registered for GST"
svc admin payout fee "$ID" --percent 2 --from "$DAY"
svc admin payout account "$ID" --holder "Corner Shop" --number 000012345678 --ifsc HDFC0000001 --gst-state 29
svc admin tax registration "$ID" --legal-name "Corner Shop LLP" --address "2 MG Road, Bengaluru" --gstin 29AAGCB7383J1Z4

step "The escrow account of merchants at the bank, and what it has"
ESCROW=$(svc admin bank-account list --json | from '_.find(({ purpose }) => purpose === "merchant_escrow")?.bankAccountId ?? ""')
if [ -n "$ESCROW" ]; then
  OPENING=$(svc admin books proof --date "$BEFORE" --json | of accounts[0].statementBalance)
else
  OPENING=$(svc admin books trial-balance --effective-through "$BEFORE" --json |
    from '(({ debit, credit }) => (debit - credit).toFixed(2))(_.find(({ kind }) => kind === "bank") ?? { debit: 0, credit: 0 })')
  ESCROW=$(svc admin bank-account create --purpose merchant_escrow --name "Escrow of merchants" --number 50100012345678 \
    --ifsc HDFC0000123 --opening "$OPENING" --from "$DAY" --json | of bankAccountId)
fi
echo "$OPENING"

step "Customers pay 1,000.00 and 250.00"
CODE=$(call /api/v0/qr-code -d "{\"qrName\":\"Till $RUN\",\"multipleUse\":true}" | of payload.qrCodeId)
pay() { call /sandbox/upi/pay -d "{\"qrCodeId\":\"$CODE\",\"amount\":$1}" | of payload.utr; }
FIRST=$(pay 1000)
SECOND=$(pay 250)

step "The bank pays 1,247.64: both, less its charge of 2.00 and the GST of that"
cat > "$WORK/settlement.csv" <<END
batchUtr,valueDate,netAmount,kind,reference,amount,date,note
HDFCN$RUN,$DAY,1247.64,payment,$FIRST,1000.00,$DAY,
HDFCN$RUN,$DAY,1247.64,payment,$SECOND,250.00,$DAY,
HDFCN$RUN,$DAY,1247.64,charge,,-2.00,$DAY,
HDFCN$RUN,$DAY,1247.64,charge_gst,,-0.36,$DAY,
END
svc admin settlement import "$WORK/settlement.csv"

step "The month goes by, and the fees of each day are entered"
svc sandbox clock advance all --to "${NEXT}T02:00:00+05:30"
svc admin books accrue --through "$LAST"

step "The statement of the bank until the last day, with 5.90 that the bank took for the account"
cat > "$WORK/statement.csv" <<END
date,amount,reference,narration,balance
$DAY,1247.64,,NEFT CR HDFCN$RUN,$(plus "$OPENING" 1247.64)
$LAST,-5.90,CHG$RUN,CHARGES,$(plus "$OPENING" 1241.74)
END
svc admin statement import "$WORK/statement.csv" --account "$ESCROW"
LINE=$(svc admin statement lines --status UNMATCHED --json | from '_[0].lineId')
svc admin statement resolve "$LINE" --as charge --reason "charges of the account"

step "The invoices of the month"
svc admin tax issue --month "${LAST:0:7}"

step "What is in order, the close, and its proof"
svc admin books close --through "$LAST" --check
svc admin books close --through "$LAST"
svc admin books verify
