"""An S3 store that checks signatures, of PyPI's moto: prints its address and a key, and ends with its
parent."""
import json, logging, os, time

# The requests that make the user, her key, her policy and the bucket; all later ones must be signed.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
logging.getLogger("werkzeug").disabled = True
import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
url = "http://%s:%d" % server.get_host_and_port()
anyone = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
iam = boto3.client("iam", **anyone)
iam.create_user(UserName="attache")
key = iam.create_access_key(UserName="attache")["AccessKey"]
everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_user_policy(UserName="attache", PolicyName="all", PolicyDocument=json.dumps(everything))
boto3.client("s3", **anyone).create_bucket(Bucket="bundles")
print(json.dumps({"url": url, "key": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.5)
server.stop()
